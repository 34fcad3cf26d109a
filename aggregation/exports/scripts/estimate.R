# Compute the published estimates of a release and their intervals again, and compare.
#
#     Rscript estimate.R [folder] > again.csv
#
# The folder (this one, unless another is named) holds reports.csv and codebook.csv, from which
# everything is computed, and maybe estimates.csv, with which it is compared. The formulas are those
# of codebook.json; intervals are in shares.R and means.R, which must be beside this file. Base R
# alone. The status is 0 if all is as published, else 1.

this <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (part in c("shares.R", "means.R")) source(file.path(dirname(this), part))

tolerance <- 1e-6
names_of <- c("question", "measure", "option", "by", "group")
figures_of <- c("estimate", "standard_error", "low_once", "high_once", "low_always", "high_always")
declined <- "prefer-not-to-say"

read <- function(folder, name) {
  read.csv(file.path(folder, name), colClasses = "character", na.strings = character(0),
           check.names = FALSE, encoding = "UTF-8")
}

# --- Questions ------------------------------------------------------------------------------------

# A question from its lines in the codebook; `alone` are the columns of questions in one block only.
question_of <- function(lines, reports, alone) {
  first <- lines[lines$block == lines$block[1], ]
  blocks <- unique(lines$block)
  times <- as.numeric(reports$count)
  # A block was asked if any of its questions has a value.
  n <- vapply(blocks, function(block) sum(times[reports[[alone[[block]]]] != ""]), 0)
  keep <- vapply(blocks, function(block) {
    one <- lines[lines$block == block, ][1, ]
    as.numeric(one$keep) / as.numeric(one$scale)
  }, 0)
  stray <- vapply(blocks, function(block) as.numeric(lines$b[lines$block == block]),
                  numeric(nrow(first)))
  part <- if (sum(n) > 0) n / sum(n) else n * 0 + 1 / length(n)
  number <- function(text) if (text == "") NA else as.numeric(text)
  slots <- number(first$picks[1])
  list(key = first$key[1], kind = first$kind[1], options = first$option,
       numbers = suppressWarnings(as.numeric(first$number)), follow_up = first$only_if[1] != "",
       background = first$background[1] == "1", slots = if (is.na(slots)) 1 else slots,
       population = number(first$population[1]), values = reports[[first$column[1]]],
       c = sum(part * keep), stray = drop(stray %*% part))
}

# What is estimated of a question: for each measure the weights, and whom it is among (NULL: all).
measures_of <- function(question) {
  places <- seq_along(question$options)
  own <- which(question$options != "")
  measure <- function(name, option, weights, among = NULL) {
    list(name = name, option = option, weights = weights, among = among)
  }
  share <- function(i) measure("share", question$options[i], question$slots * (places == i))
  shares <- lapply(own, share)
  found <- shares
  if (question$follow_up) {
    asked <- as.numeric(places < length(places))
    concern <- function(one) measure("share_of_concerned", one$option, one$weights, asked)
    found <- c(found, lapply(shares, concern))
  }
  known <- !is.na(question$numbers)
  if (any(known)) {
    among <- if (all(known)) NULL else as.numeric(known)
    found <- c(found, list(measure("mean", "", ifelse(known, question$numbers, 0), among)))
  }
  if (question$kind == "several") {
    none <- question$options == declined
    among <- if (any(none)) 1 - question$slots * none else NULL
    picked <- question$slots * (places %in% own & !none)
    found <- c(found, list(measure("picks", "", picked, among)))
  }
  found
}

# Scores of the values; NULL if those concerned are not those with certain values.
scored <- function(measure, c, stray) {
  among <- if (is.null(measure$among)) rep(1, length(stray)) else measure$among
  if (!all(among %in% c(0, 1))) return(NULL)
  scores_of(ifelse(among == 1, measure$weights, NA), c, stray)
}

# The least and the greatest value that a measure can have.
span_of <- function(measure) {
  if (measure$name == "picks") return(c(0, max(measure$weights)))
  range(measure$weights[measure$among > 0])
}

# --- Estimates ------------------------------------------------------------------------------------

# A measure over everybody, with its limits for one look and for every look.
everybody <- function(question, counts, measure) {
  c <- question$c
  n <- sum(counts)
  population <- question$population
  if (!is.na(population) && population < n) population <- NA
  number <- question$kind == "number"
  s <- scored(measure, c, question$stray)
  if (is.null(s)) {
    return(any_ratio(rbind(counts), 1, 1, measure$weights, measure$among, c, question$stray,
                     span_of(measure), level))
  }
  if (measure$name == "share") {
    return(share(counts, measure$weights > 0, c / question$slots, question$stray, population,
                 FALSE, 0, 1))
  }
  if (s$two) {
    return(share(counts, s$x == 1, c, question$stray, population, number, s$least, s$span))
  }
  list(once = mean_once(counts, s, level, population, number),
       always = mean_always(counts, s, level))
}

# The same for a share, or two levels, for which reports are as good as yes or no.
share <- function(counts, yes, c, stray, population, rounded, least, span) {
  n <- sum(counts)
  count <- sum(counts[yes])
  b <- min(sum(stray[yes]), 1 - c)
  two <- scores_of(c(0, 1), c, c(1 - c - b, b))
  error <- standard_error(c(n - count, count), two, population, rounded)[1]
  if (n == 1 && !rounded && !(population %in% 1)) {
    worst <- min(max(0.5, b), b + c)  # the largest variance that one report can have
    error <- sqrt(worst * (1 - worst)) / c
  }
  once <- if (is.na(population)) share_once(count, n, b, c, level)
          else if (rounded) share_once(count, n, b, c, level_in_population(n, b, c, level))
          else share_of_population(count, n, b, c, level, population)
  list(once = result(least + span * (count / n - b) / c, span * error, least + span * once),
       always = least + span * share_always(count, n, b, c, level))
}

# A measure in a group of a background question; `table` has a row for each group.
in_group <- function(question, by, table, group, measure) {
  c <- question$c
  n <- sum(table)
  s <- scored(measure, c, question$stray)
  if (is.null(s)) {
    return(any_ratio(table, by$c, group, measure$weights, measure$among, c, question$stray,
                     span_of(measure), level))
  }
  if (measure$name == "share") {  # the option against everything else
    i <- which.max(measure$weights)
    contrast <- c / question$slots
    b <- question$stray[i]
    s <- scores_of(c(0, 1), contrast, c(1 - contrast - b, b))
    table <- cbind(rowSums(table) - table[, i], table[, i])
  }
  joint <- joint_of(table, by$c, s)
  list(once = found_in(joint, group, errors_once(level)),
       always = found_in(joint, group, errors_always(n, level))$limits)
}

# The reports by value, those of some lines only.
counted <- function(question, times, lines = TRUE) {
  places <- seq_along(question$options) - 1
  vapply(places, function(value) sum(times[lines & question$values == value]), 0)
}

# All estimates of a question, as a data frame.
estimates_of <- function(question, questions, times) {
  measures <- measures_of(question)
  counts <- counted(question, times)
  if (sum(counts) == 0) return(NULL)
  line <- function(measure, by, group, found) {
    figures <- c(found$once$value, found$once$error, found$once$limits, found$always)
    cbind(data.frame(question = question$key, measure = measure$name, option = measure$option,
                     by = by, group = group),
          as.data.frame(as.list(setNames(figures, figures_of))))
  }
  rows <- lapply(measures, function(one) line(one, "", "", everybody(question, counts, one)))
  for (by in questions) {
    if (!by$background || by$key == question$key) next
    groups <- seq_along(by$options)
    table <- t(vapply(groups, function(g) counted(question, times, by$values == g - 1), counts))
    for (g in groups) for (one in measures) {
      rows <- c(rows, list(line(one, by$key, by$options[g], in_group(question, by, table, g, one))))
    }
  }
  do.call(rbind, rows)
}

# --- Comparing ------------------------------------------------------------------------------------

# The largest difference, relative to figures beyond 1.
difference <- function(found, published) {
  key <- function(lines) do.call(paste, c(lines[names_of], sep = "\t"))
  published <- published[as.numeric(published$n) > 0, ]
  if (!setequal(key(found), key(published))) return(Inf)
  found <- as.matrix(found[match(key(published), key(found)), figures_of])
  given <- suppressWarnings(vapply(published[figures_of], as.numeric, numeric(nrow(published))))
  given <- matrix(given, nrow(published))
  if (any(is.na(found) != is.na(given))) return(Inf)
  max(abs(found - given) / pmax(1, abs(given)), na.rm = TRUE)
}

main <- function(folder) {
  codebook <- read(folder, "codebook.csv")
  reports <- read(folder, "reports.csv")
  lines <- split(codebook, factor(codebook$key, unique(codebook$key)))
  single <- Filter(function(one) length(unique(one$block)) == 1, lines)
  alone <- setNames(lapply(single, function(one) one$column[1]),
                    vapply(single, function(one) one$block[1], ""))
  questions <- lapply(lines, question_of, reports, alone)
  found <- lapply(questions, estimates_of, questions, as.numeric(reports$count))
  found <- do.call(rbind, unname(found))
  shown <- found
  shown[figures_of] <- lapply(found[figures_of],
                              function(x) ifelse(is.na(x), "", sprintf("%.17g", x)))
  write.csv(shown, row.names = FALSE)
  if (!file.exists(file.path(folder, "estimates.csv"))) {
    message(sprintf("%d estimates; there is no estimates.csv to compare.", nrow(found)))
    return(0)
  }
  worst <- difference(found, read(folder, "estimates.csv"))
  verdict <- if (worst <= tolerance) "as published" else "NOT as published"
  message(sprintf("%d estimates: %s; largest difference %.3g.", nrow(found), verdict, worst))
  if (worst <= tolerance) 0 else 1
}

arguments <- commandArgs(trailingOnly = TRUE)
quit(status = main(if (length(arguments) > 0) arguments[1] else "."))
