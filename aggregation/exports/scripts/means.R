# Means and ratios with their confidence intervals, for estimate.R; the Python version is means.py.
#
# Reports are randomized: a report shows the person's own value with probability c, and otherwise
# value v with probability stray[v]; these add up to 1 - c. Every value has a score, or none if the
# mean leaves it out. The methods:
#
# - a mean over everybody, for one look: limits of a binomial rate on another scale (Clopper and
#   Pearson 1934, with the third moment as Johnson 1978)
# - the same at every look: bets on the scores (Waudby-Smith and Ramdas 2024)
# - where values are left out, and by group: score limits for a ratio (Fieller 1954, with the
#   variance under the hypothesis), at every look those of the asymptotic sequence (Waudby-Smith et
#   al. 2024)
# - a ratio of any two sums: Fieller's limits
#
# Base R alone.

enough <- 5  # random reports near an end that make up for half of what is not normal

# The scores of a question's values (NA: none), moved to [0, 1], and its coin.
scores_of <- function(numbers, c, stray) {
  scored <- !is.na(numbers)
  least <- min(numbers[scored])
  span <- max(numbers[scored]) - least
  x <- ifelse(scored, (numbers - least) / span, 0)
  powers <- cbind(as.numeric(scored), x, x^2)
  list(x = x, scored = scored, c = c, stray = stray, least = least, span = span, powers = powers,
       chance = drop(stray %*% powers), everybody = all(scored),
       two = all(scored) && all(x %in% c(0, 1)))
}

rescaled <- function(limits, s) s$least + s$span * limits
divide <- function(top, below) ifelse(below > 0, top / below, 0)

# A value and its standard error (NA: too few people to tell), and limits.
result <- function(value, error, limits) list(value = value, error = error, limits = limits)

# --- In groups, and among those concerned ---------------------------------------------------------

# The reports by group (rows) and value; `kept` is the probability that they name the own group.
joint_of <- function(table, kept, s) {
  n <- sum(table)
  rates <- table / n
  stray <- (1 - kept) / nrow(table)
  sizes <- (rowSums(rates) - stray) / kept
  shown <- rates %*% s$powers
  shown <- sweep(shown, 2, stray * colSums(shown)) / kept
  # By group: the part of the people who have a score in it, and their sums of x and x^2.
  held <- (shown - outer(sizes, s$chance)) / s$c
  values <- divide(held[, 2], held[, 1])
  # All of it, moved to what it can be.
  x <- sort(unique(s$x[s$scored]))
  mean <- within(values)
  square <- pmin(pmax(divide(held[, 3], held[, 1]), approx(x, x^2, mean)$y), mean)
  size <- pmax(sizes, 0) / sum(pmax(sizes, 0))
  list(n = n, rates = rates, kept = kept, stray = stray, sizes = sizes, held = held,
       values = values, size = size, part = within(divide(held[, 1], sizes)), mean = mean,
       square = square, scores = s, own = 1 + (kept + stray) * (1 - kept - stray) / kept^2,
       other = stray * (1 - stray) / kept^2)
}

# The mean in a group, with limits that reach z standard errors.
found_in <- function(joint, group, z) {
  s <- joint$scores
  factor <- z^2 / joint$n
  if (!clear_in(joint, group, factor)) return(result(NA, NA, rescaled(c(0, 1), s)))
  limits <- limits_in(joint, group, factor)
  bounded <- within(joint$values[group])
  limits <- within(c(min(limits[1] - outward, bounded), max(limits[2] + outward, bounded)))
  result(s$least + s$span * joint$values[group], s$span * error_in(joint, group),
         rescaled(limits, s))
}

# Whether more reports are of the group, and concerned, than by chance.
clear_in <- function(joint, group, factor) {
  s <- joint$scores
  if (s$everybody) return(joint$sizes[group] > sqrt(factor * joint$other))
  h <- s$chance[1]
  each <- joint$size * (s$c * joint$part * (1 - 2 * h) + h - h^2)
  nobody <- joint$size[group] * joint$own * (h - h^2) + joint$other * sum(each[-group])
  joint$held[group, 1] > sqrt(factor * nobody) / s$c
}

limits_in <- function(joint, group, factor) {
  below <- joint$held[group, 1]
  top <- min(max(joint$held[group, 2], 0), max(below, 0))
  c(quadratic_limits(top, below, null_moments(joint, group, FALSE), factor)[1],
    quadratic_limits(top, below, null_moments(joint, group, TRUE), factor)[2])
}

# x, y, z of the variance x - 2 y R + z R^2 if the mean in the group is R.
null_moments <- function(joint, group, up) {
  s <- joint$scores
  h0 <- s$chance[1]
  h1 <- s$chance[2]
  h2 <- s$chance[3]
  m <- joint$mean
  share <- s$c * joint$part
  slope <- tilts(joint$square[group], m[group])[if (up) 1 else 2]
  part <- share[group]
  mine <- c(part * (joint$square[group] - slope * m[group]) + h2 - h1^2,
            h1 - h0 * h1 - part * slope / 2, h0 - h0^2 - part)
  each <- joint$size * cbind(share * joint$square + h2 - 2 * h1 * share * m - h1^2,
                             share * m + h1 - share * (h1 + h0 * m) - h0 * h1,
                             share * (1 - 2 * h0) + h0 - h0^2)
  rest <- colSums(each[-group, , drop = FALSE])
  (joint$size[group] * joint$own * mine + joint$other * rest) / s$c^2
}

# The standard error of the mean in a group; a single report has none.
error_in <- function(joint, group) {
  s <- joint$scores
  R <- joint$values[group]
  influence <- (s$x - R) * s$scored - (s$chance[2] - R * s$chance[1])
  square <- drop(joint$rates %*% influence^2)
  spread <- (1 - 2 * joint$stray) * square[group] + joint$stray^2 * sum(square)
  if (joint$n < 2) return(NA)
  sqrt(max(spread, 0) / (joint$n - 1)) / (joint$kept * s$c * joint$held[group, 1])
}

# How fast the mean of x^2 changes as people move to the top, and to the bottom.
tilts <- function(square, mean) {
  c(if (mean < 1) (1 - square) / (1 - mean) else 1, if (mean > 0) square / mean else 1)
}

# The R between which (top - R below)^2 <= factor (x - 2 y R + z R^2).
quadratic_limits <- function(top, below, moments, factor) {
  square <- below^2 - factor * moments[3]
  if (square <= 0) square <- 1
  half <- top * below - factor * moments[2]
  reach <- sqrt(max(half^2 - square * (top^2 - factor * moments[1]), 0))
  c(half - reach, half + reach) / square
}

# --- Over everybody -------------------------------------------------------------------------------

# The standard error of a mean, and what it is in an unlimited population. `rounded`: the values are
# levels to which numbers were rounded.
standard_error <- function(counts, s, population, rounded) {
  n <- sum(counts)
  rates <- counts / n
  joint <- joint_of(rbind(counts), 1, s)
  concerned <- if (s$everybody) 1 else joint$held[1, 1]
  if (concerned <= 0) return(c(NA, NA))
  t <- if (s$everybody) s$x else (s$x - joint$values[1]) * s$scored / concerned
  mean <- sum(rates * t)
  square <- sum(rates * t^2)
  e <- sum(s$stray * t)
  noise <- max((1 - s$c) * square - 2 * e * mean + s$c * sum(s$stray * t^2) + e^2, 0)
  if (rounded) noise <- noise + (s$c / concerned)^2 * rounding(rates, s)
  unseen <- if (is.na(population)) 1 else 1 - n / population
  spread <- if (n > 1) max(square - mean^2, 0) * n / (n - 1) else diff(range(t))^2 / 4
  if (n == 1) unseen <- ceiling(unseen)
  whole <- max(noise + unseen * (spread - noise), 0)
  sqrt(c(whole, spread) / n) / s$c
}

# The largest variance that rounding at random may have added.
rounding <- function(rates, s) {
  steps <- length(unique(s$x[s$scored])) - 1
  seen <- ifelse(s$scored, pmax((rates - s$stray) / s$c, 0), 0)
  odd <- round(s$x * steps) %% 2 == 1
  if (sum(seen) > 0) sum(seen[odd]) * sum(seen[!odd]) / sum(seen) / steps^2 else 0
}

# A mean over everybody, for one look; not for two levels, which are a share.
mean_once <- function(counts, s, level, population, rounded) {
  joint <- joint_of(rbind(counts), 1, s)
  factor <- errors_once(level)^2 / joint$n
  error <- standard_error(counts, s, population, rounded)
  if (!s$everybody && !clear_in(joint, 1, factor)) return(result(NA, NA, rescaled(c(0, 1), s)))
  limits <- if (s$everybody) binomial_limits(counts, joint, level) else limits_in(joint, 1, factor)
  part <- 1
  if (!is.na(population) && error[1] > 0 && error[1] < error[2]) {
    near <- joint$n * min(sum(s$stray * s$x^2 * s$scored), sum(s$stray * (1 - s$x)^2 * s$scored))
    part <- 1 - (1 - error[1] / error[2]) * near / (near + enough)
  }
  bounded <- within(joint$values[1])
  limits <- bounded + part * (limits - bounded)
  limits <- within(c(min(limits[1] - outward, bounded), max(limits[2] + outward, bounded)))
  result(s$least + s$span * joint$values[1], s$span * error[1], rescaled(limits, s))
}

# Limits for the mean of x from those of a binomial rate on another scale.
binomial_limits <- function(counts, joint, level) {
  s <- joint$scores
  n <- joint$n
  middle <- s$chance[2] + s$c * joint$mean
  gaps <- diff(sort(unique(s$x)))
  jumps <- diff(sort(unique(s$x[counts > 0])))
  step <- max(if (length(jumps)) jumps else 1) + max(gaps) - min(gaps)
  rates <- drop(joint$rates)
  mine <- sum(rates * s$x)
  second <- sum(rates * (s$x - mine)^2)
  third <- sum(rates * (s$x - mine)^3)
  known <- joint$values > 0 && joint$values < 1 && second > 0
  farthest <- tilts(joint$square, joint$mean)
  limit <- function(sign, farthest, end) {
    slope <- if (!known) farthest else sign * min(sign * c(2 * mine + third / second, farthest))
    near <- n * sum(s$stray * end^2)
    slope <- slope + (farthest - slope) / (1 + near / 2)
    constant <- s$chance[3] + s$c * (joint$square - slope * joint$mean) - slope * s$chance[2]
    width <- sqrt(max(slope^2 + 4 * constant, 1e-30))
    first <- (slope - width) / 2
    count <- min(max(n * (middle - first) / width, 0), n)
    half <- 0.5 + sign * step / (2 * width)
    above <- count + half
    below <- n - count + 1 - half
    tail <- if (sign > 0) (1 + level) / 2 else (1 - level) / 2
    rate <- if (below <= 0) 1 else if (above <= 0) 0
            else qbeta(tail, max(above, 1e-9), max(below, 1e-9))
    joint$mean + (first + width * rate - middle) * sqrt(1 + 0.5 / n) / s$c
  }
  c(limit(-1, farthest[2], 1 - s$x), limit(1, farthest[1], s$x))
}

# Limits for a mean over everybody that hold at every look.
mean_always <- function(counts, s, level) {
  joint <- joint_of(rbind(counts), 1, s)
  if (!clear_in(joint, 1, errors_once(level)^2 / joint$n)) return(rescaled(c(0, 1), s))
  k <- concentration(level)
  bar <- -log1p(-level)
  start <- within(joint$values[1])
  limit <- function(end) {
    if (log_wealth(end, counts, s, k) <= bar) return(end)
    if (start == end) return(start)
    solve_for(function(R) log_wealth(R, counts, s, k) - bar, start, end)
  }
  rescaled(within(c(limit(0) - outward, limit(1) + outward)), s)
}

# The log of what bets against the mean R have made of 1, on average over all bets.
log_wealth <- function(R, counts, s, k) {
  h <- s$chance
  mean <- h[2] - R * h[1]
  d <- (s$x - R) * s$scored - mean
  part <- if (s$everybody) 1 else 0.75
  spread <- s$c * part * (R - R^2) / 2 + h[3] - 2 * R * h[2] + R^2 * h[1] - mean^2
  spread <- max(spread, 1e-12)
  bets <- function(sign, room) {
    most <- min(s$c * part * room / spread, (1 - 2^-20) / max(-sign * d, 1e-100),
                8 / sqrt(k * spread))
    sign * most / 1.25^(0:63)
  }
  bet <- c(bets(1, 1 - R), bets(-1, R))
  bet <- bet[bet != 0]
  weight <- abs(bet) * exp(-k * spread * bet^2 / 2)
  gain <- drop(log1p(outer(bet, d)) %*% counts)
  max(gain) + log(sum(weight * exp(gain - max(gain))) / sum(weight))
}

# --- Any ratio ------------------------------------------------------------------------------------

# A ratio of two weighted sums in a group for one look, and limits for every look.
any_ratio <- function(table, kept, group, top, below, c, stray, spans, level) {
  n <- sum(table)
  rates <- table / n
  w <- ((seq_len(nrow(table)) == group) - (1 - kept) / nrow(table)) / kept
  x <- outer(w, (top - sum(top * stray)) / c)
  y <- outer(w, (below - sum(below * stray)) / c)
  mx <- sum(x * rates)
  my <- sum(y * rates)
  moments <- c(sum((x - mx)^2 * rates), sum((x - mx) * (y - my) * rates), sum((y - my)^2 * rates))
  moments <- moments / max(n - 1, 1)
  limits <- function(z) {
    if (my^2 <= z^2 * moments[3]) return(spans)
    pmin(pmax(quadratic_limits(sign(my) * mx, abs(my), moments, z^2), spans[1]), spans[2])
  }
  once <- errors_once(level)
  if (my^2 <= once^2 * moments[3]) return(list(once = result(NA, NA, spans), always = spans))
  value <- mx / my
  error <- sqrt(max(moments[1] - 2 * value * moments[2] + value^2 * moments[3], 0)) / abs(my)
  list(once = result(value, error, limits(once)), always = limits(errors_always(n, level)))
}
