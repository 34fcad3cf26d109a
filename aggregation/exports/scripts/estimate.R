# Compute the published estimates of a release and their intervals again, and compare.
#
#     Rscript estimate.R [folder] > again.csv
#
# The folder (this one, unless another is named) holds codebook.csv and reports.csv, from which all
# is computed, and maybe estimates.csv, to compare. Without reports.csv, the counts in estimates.csv
# are used, as far as they go: means of numbers need the reports, and some follow-ups by group do.
# The formulas are those of codebook.json; intervals are in shares.R and means.R beside this file.
# Base R alone. The status is 0 if all is as published, else 1.

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

# A question from its lines in the codebook.
question_of <- function(lines) {
  blocks <- unique(lines$block)
  first <- lines[lines$block == blocks[1], ]
  number <- function(text) if (text == "") NA else as.numeric(text)
  slots <- number(first$picks[1])
  numbers <- suppressWarnings(as.numeric(first$number))
  last <- nrow(first)
  list(key = first$key[1], kind = first$kind[1], column = first$column[1], options = first$option,
       numbers = numbers, follow_up = first$only_if[1] != "",
       background = first$background[1] == "1", slots = if (is.na(slots)) 1 else slots,
       population = number(first$population[1]),
       # Whether the last value is "not asked" or "nothing picked".
       blank = first$option[last] == "" && is.na(numbers[last]),
       levels_apart = TRUE,  # FALSE: the levels of a number are only counted together
       blocks = blocks, keep = as.numeric(lines$keep[match(blocks, lines$block)]) /
                               as.numeric(lines$scale[1]),
       strays = matrix(as.numeric(lines$b), last))
}

# The same with its coin: c and the chance of each value; of several blocks, by their reports.
with_coin <- function(question, asked) {
  n <- asked[question$blocks]
  part <- if (sum(n) > 0) n / sum(n) else n * 0 + 1 / length(n)
  question$c <- sum(part * question$keep)
  question$stray <- drop(question$strays %*% part)
  question
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
  if (any(known) && (question$levels_apart || question$kind != "number")) {
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

# All estimates of a question, as a data frame.
estimates_of <- function(question, questions, tables) {
  measures <- measures_of(question)
  counts <- drop(tables[[name_of(question$key)]])
  if (sum(counts) == 0) return(NULL)
  line <- function(measure, by, group, found) {
    figures <- c(found$once$value, found$once$error, found$once$limits, found$always)
    cbind(data.frame(question = question$key, measure = measure$name, option = measure$option,
                     by = by, group = group),
          as.data.frame(as.list(setNames(figures, figures_of))))
  }
  rows <- lapply(measures, function(one) line(one, "", "", everybody(question, counts, one)))
  for (by in questions) {
    table <- tables[[name_of(question$key, by$key)]]
    if (by$key == question$key || is.null(table)) next
    for (g in seq_along(by$options)) for (one in measures) {
      rows <- c(rows, list(line(one, by$key, by$options[g], in_group(question, by, table, g, one))))
    }
  }
  do.call(rbind, rows)
}

# --- Counting -------------------------------------------------------------------------------------

# The name of a table: reports by group (rows) and value, of everybody or by a background question.
name_of <- function(key, by = "") paste(key, by)

# The tables, and the number of reports to each block, from the reports.
count_reports <- function(reports, questions) {
  times <- as.numeric(reports$count)
  places <- function(question) seq_along(question$options) - 1
  tables <- list()
  asked <- c()
  for (question in questions) {
    values <- reports[[question$column]]
    if (length(question$blocks) == 1) asked[question$blocks] <- sum(times[values != ""])
    count <- function(lines) {
      vapply(places(question), function(value) sum(times[lines & values == value]), 0)
    }
    tables[[name_of(question$key)]] <- t(count(TRUE))
    for (by in questions) if (by$background) {
      rows <- lapply(places(by), function(g) count(reports[[by$column]] == g))
      tables[[name_of(question$key, by$key)]] <- do.call(rbind, rows)
    }
  }
  list(tables = tables, asked = asked)
}

# The same from the counts of the estimates, as far as these say. All levels of a number are counted
# as the first. "Not asked" and "nothing picked" are what is missing from all reports of a group.
# Their number is known for multiple choice, and for follow-ups if everybody was asked or another
# question has the same block.
count_estimates <- function(published, questions) {
  n <- tapply(as.numeric(published$n), published$question, max)
  counts <- setNames(as.numeric(published$count),
                     do.call(paste, c(published[names_of], sep = "\t")))
  count <- function(...) {
    found <- counts[paste(..., sep = "\t")]
    if (is.na(found)) 0 else unname(found)
  }
  # The reports by value, without those that are blank.
  shown <- function(question, by, group) {
    row <- vapply(question$options, function(option) {
      if (option == "") 0 else count(question$key, "share", option, by, group)
    }, 0)
    if (question$kind == "number") row[1] <- count(question$key, "mean", "", by, group)
    unname(row)
  }
  # The reports to a question that name a group; NA if this is not known.
  reports_of <- function(question, by, group) {
    if (question$kind == "several") {
      return(count(question$key, "picks", "", by$key, group) +
               count(question$key, "share", declined, by$key, group))
    }
    if (n[question$key] == n[by$key]) return(count(by$key, "share", group, "", ""))
    for (other in questions) {
      if (setequal(other$blocks, question$blocks) && !other$blank) {
        return(sum(shown(other, by$key, group)))
      }
    }
    NA
  }
  tables <- list()
  asked <- c()
  for (question in questions) {
    if (length(question$blocks) == 1) asked[question$blocks] <- n[question$key]
    for (by in c(list(list(key = "", options = "")), Filter(function(q) q$background, questions))) {
      whole <- if (by$key == "") n[question$key]
               else vapply(by$options, function(one) reports_of(question, by, one), 0)
      table <- do.call(rbind, lapply(by$options, function(one) shown(question, by$key, one)))
      last <- ncol(table)
      if (question$blank) table[, last] <- whole - rowSums(table)
      if (!anyNA(table)) tables[[name_of(question$key, by$key)]] <- table
    }
  }
  list(tables = tables, asked = asked)
}

# --- Comparing ------------------------------------------------------------------------------------

# The largest difference, relative to figures beyond 1, of figures and those published.
difference <- function(found, published) {
  given <- suppressWarnings(vapply(published[figures_of], as.numeric, numeric(nrow(published))))
  given <- matrix(given, nrow(published))
  found <- as.matrix(found[figures_of])
  if (any(is.na(found) != is.na(given))) return(Inf)
  max(abs(found - given) / pmax(1, abs(given)), na.rm = TRUE)
}

# Say how far the figures are from those published, and return the status of the program.
compare <- function(found, published, complete) {
  key <- function(lines) do.call(paste, c(lines[names_of], sep = "\t"))
  published <- published[as.numeric(published$n) > 0, ]
  place <- match(key(found), key(published))
  rest <- published[!(key(published) %in% key(found)), ]
  same <- !anyNA(place) && !(complete && nrow(rest) > 0)
  worst <- if (same) difference(found, published[place, ]) else Inf
  verdict <- if (worst <= tolerance) "as published" else "NOT as published"
  message(sprintf("%d estimates: %s; largest difference %.3g.", nrow(found), verdict, worst))
  if (!complete && nrow(rest) > 0) {
    needed <- paste0(rest$question, " ", rest$measure, ifelse(rest$by == "", "", " by "), rest$by)
    message(sprintf("%d more need reports.csv: %s.", nrow(rest), toString(unique(needed))))
  }
  if (worst <= tolerance) 0 else 1
}

main <- function(folder) {
  exists <- function(name) file.exists(file.path(folder, name))
  if (!exists("reports.csv") && !exists("estimates.csv")) {
    message(sprintf("Put reports.csv or estimates.csv into the folder %s.", folder))
    return(1)
  }
  codebook <- read(folder, "codebook.csv")
  questions <- lapply(split(codebook, factor(codebook$key, unique(codebook$key))), question_of)
  published <- if (exists("estimates.csv")) read(folder, "estimates.csv")
  complete <- exists("reports.csv")
  counted <- if (complete) count_reports(read(folder, "reports.csv"), questions)
             else count_estimates(published, questions)
  questions <- lapply(questions, function(one) {
    one$levels_apart <- complete
    with_coin(one, counted$asked)
  })
  found <- lapply(questions, estimates_of, questions, counted$tables)
  found <- do.call(rbind, unname(found))
  shown <- found
  shown[figures_of] <- lapply(found[figures_of],
                              function(x) ifelse(is.na(x), "", sprintf("%.17g", x)))
  write.csv(shown, row.names = FALSE)
  if (!is.null(published)) return(compare(found, published, complete))
  message(sprintf("%d estimates; there is no estimates.csv to compare.", nrow(found)))
  0
}

arguments <- commandArgs(trailingOnly = TRUE)
quit(status = main(if (length(arguments) > 0) arguments[1] else "."))
