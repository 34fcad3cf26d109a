# Compute the published estimates of a release again, and compare.
#
#     Rscript estimate.R [folder] > again.csv
#
# The folder (this one, unless another is named) holds estimates.csv and codebook.csv, and maybe
# reports.csv. With the reports, everything is counted anew; without them, the computation starts
# from the published counts. The formulas are those of codebook.json. Base R alone. The status is 0
# if all is as published, else 1.

tolerance <- 1e-9

read <- function(folder, name) {
  read.csv(file.path(folder, name), colClasses = "character", na.strings = character(0),
           check.names = FALSE, encoding = "UTF-8")
}

# The share of people for whom an option is true, and its standard error, when `count` of `n`
# reports have it.
share <- function(count, n, channel) {
  c(value = (count / n - channel$b) / (channel$a - channel$b),
    error = sqrt(count * (n - count) / (n - 1)) / (n * (channel$a - channel$b)))
}

# The share of an option within a group, both those of row `at`; `counts` are the reports by group
# and option.
share_in_group <- function(rows, counts, at, channel, channel_by) {
  n <- sum(counts)
  u <- ((rows$option == rows$option[at]) - channel$b) / (channel$a - channel$b)
  w <- ((rows$group == rows$group[at]) - channel_by$b) / (channel_by$a - channel_by$b)
  size <- sum(counts * w)
  value <- sum(counts * u * w) / size
  c(value = value, error = sqrt(n / (n - 1) * sum(counts * ((u - value) * w)^2)) / size)
}

channel <- function(codebook, key) {
  first <- codebook[codebook$key == key, ][1, ]
  list(a = as.numeric(first$a), b = as.numeric(first$b))
}

# For each of these options of a question, whether each report has it: a column for each.
has <- function(codebook, reports, key, options) {
  entries <- codebook[codebook$key == key, ]
  positions <- entries$position[match(options, entries$option)]
  outer(reports[[entries$column[1]]], positions, "==")
}

# The reports of each row of a table: all rows of one question, by one background question or none.
counted <- function(rows, codebook, reports) {
  if (is.null(reports)) return(as.numeric(rows$count))
  here <- has(codebook, reports, rows$question[1], rows$option)
  if (rows$by[1] != "") here <- here & has(codebook, reports, rows$by[1], rows$group)
  colSums(here * as.numeric(reports$count))
}

text <- function(numbers) ifelse(is.na(numbers), "", sprintf("%.17g", numbers))

# The figures of such a table.
computed <- function(rows, codebook, reports) {
  counts <- counted(rows, codebook, reports)
  n <- sum(counts)
  one <- channel(codebook, rows$question[1])
  figures <- vapply(seq_len(nrow(rows)), function(at) {
    if (rows$standard_error[at] == "") return(c(value = NA, error = NA))  # too few people to tell
    if (rows$by[1] == "") return(share(counts[at], n, one))
    share_in_group(rows, counts, at, one, channel(codebook, rows$by[1]))
  }, c(value = 0, error = 0))
  same <- all(counts == as.numeric(rows$count)) && all(n == as.numeric(rows$n))
  told <- rows$standard_error != ""
  off <- c(0, abs(figures["value", told] - as.numeric(rows$estimate[told])),
           abs(figures["error", told] - as.numeric(rows$standard_error[told])))
  list(off = if (same) max(off) else Inf,
       lines = data.frame(rows[c("question", "option", "by", "group")],
                          n = sprintf("%.0f", n), count = sprintf("%.0f", counts),
                          estimate = text(figures["value", ]),
                          standard_error = text(figures["error", ])))
}

main <- function(folder) {
  codebook <- read(folder, "codebook.csv")
  published <- read(folder, "estimates.csv")
  there <- file.exists(file.path(folder, "reports.csv"))
  reports <- if (there) read(folder, "reports.csv") else NULL
  named <- paste(published$question, published$by, sep = "\t")
  found <- lapply(split(published, factor(named, unique(named))), computed, codebook, reports)
  again <- do.call(rbind, lapply(found, `[[`, "lines"))
  write.csv(again, row.names = FALSE)
  worst <- max(vapply(found, `[[`, 0, "off"))
  verdict <- if (worst <= tolerance) "as published" else "NOT as published"
  source <- if (there) "reports" else "published counts"
  message(sprintf("%d estimates from %s: %s; largest difference %.3g.",
                  nrow(published), source, verdict, worst))
  if (worst <= tolerance) 0 else 1
}

arguments <- commandArgs(trailingOnly = TRUE)
quit(status = main(if (length(arguments) > 0) arguments[1] else "."))
