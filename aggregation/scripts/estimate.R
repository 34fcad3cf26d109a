# Compute the published estimates of a release again, and compare.
#
#     Rscript estimate.R [folder] > again.csv
#
# The folder (this one, unless another is named) holds estimates.csv and codebook.csv, and
# reports.csv where it may be taken home. With the reports, everything is counted anew; groups that
# are not told apart in them, and all without reports.csv, start from the published counts. Base R
# alone. The status is 0 if all is as published, else 1.

tolerance <- 1e-9

read <- function(folder, name) {
  read.csv(file.path(folder, name), colClasses = "character", na.strings = character(0),
           check.names = FALSE, encoding = "UTF-8")
}

# The unbiased share, and its standard error, when `count` of `n` reports have an option.
estimate <- function(count, n, a, b) {
  c(value = (count / n - b) / (a - b),
    error = sqrt(count * (n - count) / (n - 1)) / (n * (a - b)))
}

# The line of the codebook for an option of a question or stratum; none for "not given".
entry <- function(codebook, kind, key, option) {
  codebook[codebook$kind == kind & codebook$key == key & codebook$option == option, ]
}

# How many reports have the option of a published row, and of how many.
counted <- function(row, codebook, reports) {
  published <- c(count = as.numeric(row$count), n = as.numeric(row$n))
  if (is.null(reports)) return(published)
  here <- rep(TRUE, nrow(reports))
  if (row$stratum != "") {
    column <- codebook$column[codebook$kind == "stratum" & codebook$key == row$stratum][1]
    if (!(column %in% names(reports))) return(published)
    group <- entry(codebook, "stratum", row$stratum, row$group)$position
    here <- reports[[column]] == (if (length(group) == 1) group else "")
  }
  option <- entry(codebook, "question", row$question, row$option)
  values <- reports[[option$column]]
  times <- as.numeric(reports$count)
  n <- sum(times[here & values != ""])
  if (row$stratum != "" && n == 0) return(published)  # not told apart
  c(count = sum(times[here & values == option$position]), n = n)
}

main <- function(folder) {
  codebook <- read(folder, "codebook.csv")
  published <- read(folder, "estimates.csv")
  published <- published[published$suppressed == "0", ]
  there <- file.exists(file.path(folder, "reports.csv"))
  reports <- if (there) read(folder, "reports.csv") else NULL
  worst <- 0
  again <- lapply(seq_len(nrow(published)), function(i) {
    row <- published[i, ]
    found <- counted(row, codebook, reports)
    channel <- entry(codebook, "question", row$question, row$option)
    figures <- estimate(found[["count"]], found[["n"]],
                        as.numeric(channel$a), as.numeric(channel$b))
    same <- found[["count"]] == as.numeric(row$count) && found[["n"]] == as.numeric(row$n)
    off <- max(abs(figures[["value"]] - as.numeric(row$estimate)),
               abs(figures[["error"]] - as.numeric(row$standard_error)))
    worst <<- max(worst, if (same) off else Inf)
    data.frame(question = row$question, option = row$option, stratum = row$stratum,
               group = row$group, n = sprintf("%.0f", found[["n"]]),
               count = sprintf("%.0f", found[["count"]]),
               estimate = format(figures[["value"]], digits = 17),
               standard_error = format(figures[["error"]], digits = 17))
  })
  # A line of names, even where no figure is shown.
  names <- c("question", "option", "stratum", "group", "n", "count", "estimate", "standard_error")
  empty <- data.frame(matrix(character(0), 0, length(names), dimnames = list(NULL, names)))
  write.csv(do.call(rbind, c(list(empty), again)), row.names = FALSE)
  verdict <- if (worst <= tolerance) "as published" else "NOT as published"
  source <- if (there) "reports" else "published counts"
  message(sprintf("%d estimates from %s: %s; largest difference %.3g.",
                  nrow(published), source, verdict, worst))
  if (worst <= tolerance) 0 else 1
}

arguments <- commandArgs(trailingOnly = TRUE)
quit(status = main(if (length(arguments) > 0) arguments[1] else "."))
