# Confidence intervals for shares, for estimate.R; the Python version is shares.py.
#
# Reports are randomized: a report shows the person's own option with probability c, and otherwise
# this option with probability b. The methods:
#
# - for one look: Blaker's exact interval (2000), restricted to rates that the channel allows
# - in a population of known size: the same at a level that makes up for it; if all of it reported,
#   the exact limits for two binomial counts
# - at every look: mixtures of likelihood ratios (Robbins 1970), narrowest at about 300 reports
#
# Base R alone.

tie <- 1e-9       # two tail probabilities this close are equal
outward <- 1e-12  # limits are moved outward by this much
best_at <- 300    # reports at which intervals for every look are narrowest
level <- 0.95

within <- function(x) pmin(pmax(x, 0), 1)

# Where a function changes its sign.
solve_for <- function(f, low, high) {
  if (f(low) == 0) return(low)
  uniroot(f, range(low, high), tol = 1e-16, maxiter = 1000)$root
}

# The first of the whole numbers from..to for which a test holds that then holds for all; else to + 1.
first_of <- function(from, to, test) {
  last <- to + 1
  while (from < last) {
    middle <- floor((from + last) / 2)
    if (test(middle)) last <- middle else from <- middle + 1
  }
  from
}

at_most <- function(t, n, q) if (t >= n) 1 else pbeta(1 - q, n - t, t + 1)
at_least <- function(t, n, q) if (t <= 0) 1 else if (t > n) 0 else pbeta(q, t, n - t + 1)

# --- For one look ---------------------------------------------------------------------------------

# Exact limits for a share: `count` of `n` reports show the option.
share_once <- function(count, n, b, c, level) {
  range <- clamp(n, b + c, b)
  t <- min(max(count, range[1]), range[2])
  high <- blaker(t, n, b + c, range[2], 1 - level)
  low <- 1 - blaker(n - t, n, 1 - b, n - range[1], 1 - level)
  likeliest <- min(max(count / n, b), b + c)
  shares(min(low, likeliest), max(high, likeliest), b, c)
}

# The range to which counts are moved: what shares from 0 to 1 make one expect.
clamp <- function(n, a, b) {
  lowest <- min(floor(n * (b + 2^-50)), n)
  highest <- max(ceiling(n * (a - 2^-50)), 0)
  c(if (at_most(lowest, n, b) < 1 / 4) n else lowest,
    if (at_least(highest, n, a) < 1 / 4) 0 else highest)
}

# The greatest rate up to `a` at which the acceptability of t exceeds alpha.
blaker <- function(t, n, a, highest, alpha) {
  if (t >= highest) return(a)
  outside <- function(q) at_most(t, n, q) + if (u <= highest) at_least(u, n, q) else 0
  end <- min(a, if (t == n) 1 else qbeta(alpha / 2, t + 1, n - t, lower.tail = FALSE))
  below <- at_most(t, n, end) * (1 + tie)
  u <- first_of(t + 1, highest, function(k) at_least(k, n, end) <= below)
  if (outside(end) >= alpha * (1 - tie)) return(end)
  # Here the tail beyond u becomes larger than the one up to t, and the acceptability jumps.
  jump <- solve_for(function(q) at_least(u - 1, n, q) - at_most(t, n, q), t / n, end)
  if (outside(jump) <= alpha) jump else solve_for(function(q) outside(q) - alpha, jump, end)
}

# Limits for the share from those for the rate of reports.
shares <- function(low, high, b, c) within(c(low - outward - b, high + outward - b) / c)

# Limits for the share in a population of which n people were asked.
share_of_population <- function(count, n, b, c, level, population) {
  if (population > n) return(share_once(count, n, b, c, level_in_population(n, b, c, level)))
  range <- clamp(n, b + c, b)
  t <- min(max(count, range[1]), range[2])
  high <- census(t, n, b + c, b, range[2], 1 - level) / n
  low <- 1 - census(n - t, n, 1 - b, 1 - b - c, n - range[1], 1 - level) / n
  bounded <- within((count / n - b) / c)
  c(min(low, bounded), max(high, bounded))
}

# A level that makes up for rare counts, which may be less rare in a population.
level_in_population <- function(n, b, c, level) {
  if (n * b < 1 || n * (1 - b - c) < 1) exp(level - 1) else level
}

# The most people with the option among n for whom t reports are not too few.
census <- function(t, n, a, b, highest, alpha) {
  if (t == highest) return(n)
  at_most_t <- function(k) {  # P(Bin(k, a) + Bin(n - k, b) <= t)
    one <- k * a * (1 - a) <= (n - k) * b * (1 - b)
    m <- if (one) c(k, n - k) else c(n - k, k)
    p <- if (one) c(a, b) else c(b, a)
    j <- 0:m[1]
    sum(dbinom(j, m[1], p[1]) * pbinom(t - j, m[2], p[2]))
  }
  first_of(1, n, function(k) at_most_t(k) <= alpha / 2) - 1
}

# --- At every look --------------------------------------------------------------------------------

# How many reports the prior of the likelihood ratios weighs.
concentration <- function(level) {
  evidence <- -2 * log1p(-level)
  best_at / (evidence + log1p(evidence))
}

# Limits for a share that hold at every look.
share_always <- function(count, n, b, c, level) {
  a <- b + c
  k <- concentration(level)
  bar <- -log1p(-level)
  log_ratio <- function(rate) {  # of the mean likelihood, by a beta prior around the rate, to its own
    rate <- min(max(rate, 1e-300), 1 - 2^-53)
    yes <- k * rate
    no <- k * (1 - rate)
    log_integral(yes + count, no + n - count, rate, a, b) - log_integral(yes, no, rate, a, b)
  }
  start <- min(max(count / n, b), a)
  limit <- function(end) {
    if (start == end || log_ratio(end) <= bar) return(end)
    solve_for(function(rate) log_ratio(rate) - bar, start, end)
  }
  shares(limit(b), limit(a), b, c)
}

# The log of the integral of (l/rate)^yes ((1-l)/(1-rate))^no / (l(1-l)) from b to a, in log-odds,
# on both sides of the peak as far as it matters.
log_integral <- function(yes, no, rate, a, b) {
  b <- if (b > 1e-300) b else 0
  peak <- min(max(yes / (yes + no), b, 1e-300), a, 1 - 2^-53)
  height <- yes * log(peak / rate) + no * log((1 - peak) / (1 - rate))
  to_b <- if (b > 0) log1p((peak - b) / (b * (1 - peak))) else Inf
  to_a <- if (a < 1) log1p((a - peak) / ((1 - a) * peak)) else Inf
  height + log(half(yes, no, peak, to_b) + half(no, yes, 1 - peak, to_a))
}

# The integral of the density, relative to its peak, over log-odds below the peak.
half <- function(yes, no, peak, reach) {
  drop <- function(x) {
    if (peak < 0.5) yes * x + (yes + no) * log1p(peak * expm1(-x))
    else -no * x + (yes + no) * log1p((1 - peak) * expm1(x))
  }
  far <- min(reach, 1)
  while (far < min(reach, 700) && drop(far) < 40) far <- min(2 * far, reach, 700)
  if (drop(far) > 40) far <- solve_for(function(x) drop(x) - 40, 0, far)
  far / 2 * sum(gauss$weight * exp(-drop(far / 2 * (1 + gauss$node))))
}

# The nodes and weights of Gauss and Legendre's rule on [-1, 1] (Golub and Welsch 1969).
gauss <- local({
  i <- 1:63
  beside <- i / sqrt(4 * i^2 - 1)
  matrix <- matrix(0, 64, 64)
  matrix[cbind(i, i + 1)] <- matrix[cbind(i + 1, i)] <- beside
  found <- eigen(matrix, symmetric = TRUE)
  list(node = found$values, weight = 2 * found$vectors[1, ]^2)
})

# --- Any estimate ---------------------------------------------------------------------------------

# How many standard errors limits reach: for one look, and for every look.
errors_once <- function(level) qnorm((1 + level) / 2)
errors_always <- function(n, level) {
  if (n < 300) return(errors_once(level))
  k <- concentration(level)
  sqrt((1 + k / n) * (log1p(n / k) - 2 * log1p(-level)))
}
