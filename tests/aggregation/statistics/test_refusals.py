"""Every public function refuses impossible arguments and names argument and value."""

import inspect
import itertools
import math
import warnings
from types import ModuleType

import pytest

from aggregation.statistics import (
    difference,
    joint,
    leader,
    mean,
    planning,
    privacy,
    profiles,
    proportion,
    ratio,
    regression,
    sequence,
    weights,
)
from aggregation.statistics.joint import Block
from aggregation.statistics.proportion import Channel
from tests.support.channels import TWO_COINS

TABLE, BLOCKS = [[41, 23], [19, 17]], [Block(0.5, (0,)), Block(0.5, (1,))]
FIT = regression.tallies([[1, 0], [1, 1]], [300, 350], [1000, 900], TWO_COINS)
ONE = {"count": 30, "n": 100, "channel": TWO_COINS, "level": 0.95}
TWO = {"count1": 30, "n1": 100, "count2": 40, "n2": 100}
MANY = {"counts": [30, 40], "sizes": [100, 90], "channel": TWO_COINS, "level": 0.95}
AUDIT = {"k1": 75, "n1": 100, "k0": 25, "n0": 100, "alpha": 0.05}
PLAN = {"channel": TWO_COINS, "level": 0.95, "dropout": 0.0, "forged": 0.0}
GROUPS = {"share1": 0.1, "share2": 0.2, **PLAN}

THIRDS = Channel(0.8, 0.1)
SCORES = {"counts": [30, 40, 30], "levels": [0, 1, 2], "channel": THIRDS, "level": 0.95}

# Valid arguments of every public function.
RIGHT = {
    proportion.Channel: {"a": 0.75, "b": 0.25},
    proportion.estimate: {**ONE, "population": 1000},
    proportion.estimates: MANY,
    proportion.interval: {**ONE, "method": "blaker"},
    proportion.intervals: {**MANY, "method": "blaker"},
    proportion.finite_level: {"level": 0.95, "n": 100, "channel": TWO_COINS},
    proportion.p_value: {"share": 0.2, "count": 30, "n": 100, "channel": TWO_COINS},
    sequence.interval: {**ONE, "n_opt": 300},
    sequence.intervals: {**MANY, "n_opt": 300},
    sequence.uniform: ONE,
    sequence.robbins: {**ONE, "n_opt": 300},
    sequence.asymptotic: {"n": [300, 1000], "level": 0.95, "n_opt": 300},
    sequence.concentration: {"n_opt": 300, "level": 0.95},
    ratio.reach: {"n": [300, 1000], "level": 0.95, "kind": "always"},
    ratio.by_group: {**MANY, "keep": 0.8, "kind": "fixed"},
    ratio.among: {
        "counts": [30, 40], "concerned": [60, 70], "n": [100, 90], "channel": Channel(0.7, 0.2),
        "gate": Channel(0.9, 0.4), "level": 0.95, "kind": "always",
    },
    ratio.interval: {
        "count": 30, "concerned": 60, "n": 100, "channel": Channel(0.7, 0.2),
        "gate": Channel(0.9, 0.4), "level": 0.95, "kind": "fixed",
    },
    ratio.fieller: {
        "numerator": 0.3, "denominator": 0.6, "covariance": [[0.01, 0.0], [0.0, 0.01]],
        "level": 0.95,
    },
    mean.estimate: {**SCORES, "population": 1000, "rounded": True},
    mean.intervals: {**SCORES, "counts": [[30, 40, 30], [20, 0, 90]]},
    mean.sequence: {**SCORES, "n_opt": 300},
    mean.by_group: {
        "table": [[30, 40, 30], [20, 0, 90]], "levels": [0, 1, None], "keep_of_group": 0.8,
        "channel": THIRDS, "level": 0.95, "kind": "fixed",
    },
    mean.picks: {
        "count": 60, "n": 100, "options": 3, "most": 2, "channel": Channel(0.38, 0.08),
        "level": 0.95,
    },
    mean.total: {"found": mean.estimate(**SCORES), "population": 1000},
    leader.compare: {"counts": [30, 40], "channel": TWO_COINS, "level": 0.95, "kind": "fixed"},
    difference.interval: {**TWO, "channel": TWO_COINS, "level": 0.95},
    difference.z_test: TWO,
    difference.homogeneity: {"table": TABLE},
    difference.groups: {**MANY, "keep": 0.8},
    difference.means: {
        "table": [[30, 40, 30], [20, 0, 90]], "levels": [0, 1, None], "keep_of_group": 0.8,
        "channel": THIRDS, "level": 0.95,
    },
    difference.holm: {"p_values": [0.1, 0.2]},
    joint.cells: {"table": TABLE, "blocks": BLOCKS},
    joint.cells_for_channels: {"table": TABLE, "channels": [TWO_COINS, TWO_COINS]},
    joint.mle: {"table": TABLE, "blocks": BLOCKS, "tolerance": 1e-8, "max_iterations": 100},
    joint.association: {"table": TABLE, "blocks": BLOCKS, "options": (1, 1), "cautious": 2.0},
    joint.conditional: {"table": TABLE, "blocks": BLOCKS, "axis": 0, "cautious": 2.0},
    joint.independence: {"table": TABLE, "blocks": BLOCKS},
    regression.logistic: {
        "X": [[1], [1], [1]], "y": [1, 0, 1], "channel": TWO_COINS, "weights": [3, 4, 5],
    },
    regression.tallies: {"X": [[1]], "counts": [30], "sizes": [90], "channel": TWO_COINS},
    regression.wald: {"fit": FIT, "level": 0.95, "observed": False},
    regression.profile: {"fit": FIT, "column": 1, "level": 0.95},
    regression.likelihood_ratio: {"fit": FIT, "columns": [1]},
    regression.shares: {"fit": FIT, "X": [[1, 0]]},
    regression.predictors: {
        "table": TABLE, "blocks": [Block(0.5, (0, 1))], "options": [(1, 1), (1, 1)],
    },
    weights.estimate: {"y": [1, 0, 1], "w": [1, 2, 1], "channel": TWO_COINS, "level": 0.95},
    weights.poststratified: {
        "table": TABLE, "blocks": BLOCKS, "shares": [0.6, 0.4], "level": 0.95,
    },
    weights.pooled: {
        "counts": [30, 40], "sizes": [100, 90], "channels": [TWO_COINS] * 2, "level": 0.95,
    },
    weights.rake: {
        "table": [[[30, 40], [60, 70]], [[10, 20], [30, 20]]],
        "blocks": [Block(0.5, (0,)), Block(0.8, (1,)), Block(0.8, (2,))],
        "margins": [[0.5, 0.5], [0.4, 0.6]], "level": 0.95,
    },
    weights.kish: {"w": [1, 2]},
    weights.privacy_effect: {"share": 0.1, "channel": TWO_COINS},
    profiles.fit: {
        "patterns": list(itertools.product((0, 1), repeat=2)), "counts": [5, 4, 3, 2],
        "blocks": BLOCKS, "sizes": (2, 2), "classes": 1, "generator": 1, "starts": 1,
        "tolerance": 1e-6, "max_iterations": 50,
    },
    planning.sample_size: {"half_width": 0.05, "share": 0.5, "looks": "every", **PLAN},
    planning.half_width: {"n": 100, "share": 0.5, "looks": "every", **PLAN},
    planning.half_widths: {
        "sizes": [100, 90], "channels": [TWO_COINS] * 2, "share": 0.5, "level": 0.95,
        "dropout": 0.0, "forged": 0.0, "looks": "every",
    },
    planning.half_width_in_group: {
        "n": 100, "size": 0.4, "membership": TWO_COINS, "channel": TWO_COINS, "share": 0.5,
        "level": 0.95,
    },
    planning.best_levels: {"epsilon": 2.0, "others": 2},
    planning.noise_variance: {"epsilon": 2.0, "levels": 2, "others": 2},
    planning.mean_variance: {"epsilon": 2.0, "levels": 2, "others": 2, "deviation": 0.2},
    planning.half_width_of_mean: {
        "n": 100, "epsilon": 2.0, "levels": 2, "others": 2, "deviation": 0.2, "level": 0.95,
    },
    planning.reports_in_group: {"n": 100, "size": 0.4, "membership": TWO_COINS},
    planning.forgers_reach: {"channel": TWO_COINS, "forged": 0.01},
    planning.epsilon_for: {
        "half_width": 0.05, "n": 1000, "share": 0.5, "level": 0.95, "options": 2, "cells": 4,
    },
    planning.power: {"share": 0.2, "null": 0.1, "n": 100, **PLAN},
    planning.sample_size_of_difference: {**GROUPS, "power": 0.8},
    planning.power_of_difference: {**GROUPS, "n1": 100, "n2": 100, "method": "exact"},
    planning.smallest_difference: {
        "n": 5000, "channel": TWO_COINS, "share": 0.2, "power": 0.8, "level": 0.95,
        "forged": 0.0,
    },
    planning.block_variance: {
        "questions": 10, "size": 2, "ask": 1, "epsilon": 2.0, "share": 0.5, "options": 2,
    },
    planning.best_blocks: {
        "questions": 10, "epsilon": 2.0, "share": 0.5, "options": 2, "size": 2, "ask": 1,
        "ceiling": 8,
    },
    privacy.posterior: {"prior": 0.1, "channel": TWO_COINS},
    privacy.audit: AUDIT,
    privacy.audit_limits: AUDIT,
    privacy.loss: {"channel": TWO_COINS},
    privacy.composed: {"losses": [1.0, 2.0], "delta": 1e-3},
    privacy.group: {"epsilon": 1.0, "people": 3, "delta": 1e-6},
    privacy.trade_off: {"false_alarm": 0.1, "epsilon": 1.0, "delta": 1e-6},
    privacy.least_errors: {"epsilon": 1.0},
    privacy.shuffled: {"epsilon": 1.0, "n": 100, "delta": 1e-3, "cells": 2},
    privacy.manipulated: {**ONE, "forged": 3},
    privacy.manipulations: {**MANY, "forged": 0.03, "kind": "fixed"},
    privacy.forgery: {"share": 0.1, "channel": TWO_COINS, "forged": 0.05},
    privacy.laplace_error: {"n": 100, "epsilon": 1.0, "least": 0.0, "most": 1.0},
    privacy.price_of_mean: {
        "n": 100, "epsilon": 1.0, "levels": 2, "least": 0, "most": 9, "deviation": 2.0, "others": 1,
    },
    privacy.price: {"n": 100, "channel": TWO_COINS, "share": 0.5, "epsilon": 1.0},
}  # fmt: skip
MODULES = (
    proportion, sequence, ratio, mean, leader, difference, joint, regression, weights, profiles,
    planning, privacy,
)  # fmt: skip
# Helpers that other modules share, which return no estimates.
HELPERS = {
    "array_of", "check_channel", "counts", "integer", "items", "positive", "probability", "shares",
    "strictly_between", "tallies",
}  # fmt: skip
WRONG = [
    math.nan, -math.inf, -1e308, "x", b"x", 1j, object(), {}, {1, 2}, slice(1), [math.nan],
    [[1, 2], [3]],
]  # fmt: skip


def public(module: ModuleType) -> set[object]:
    return {
        value
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and not name.startswith("_")
        and value.__module__ == module.__name__
        and not (name in HELPERS and module in (proportion, privacy))
    }


def test_every_public_function_is_tested_here():
    assert set().union(*map(public, MODULES)) <= set(RIGHT)
    for function, arguments in RIGHT.items():
        assert set(inspect.signature(function).parameters) == set(arguments), function


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f"{f.__module__}.{f.__name__}"[23:])
def test_an_impossible_argument_is_refused_by_name(function):
    function(**RIGHT[function])
    for argument, wrong in itertools.product(RIGHT[function], WRONG):
        with warnings.catch_warnings(), pytest.raises(ValueError) as refusal:
            warnings.simplefilter("error")
            function(**{**RIGHT[function], argument: wrong})
        named, got, value = str(refusal.value).partition("got ")
        # The parts of a block have their own names.
        assert argument in named or argument == "blocks" and "axes" in named, (argument, wrong)
        assert got and value, (argument, wrong, str(refusal.value))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: proportion.estimates([[1]], 2, TWO_COINS), r"must be lists, got \[\[1\]\]"),
        (lambda: joint.cells([[1e308, 1e308]], BLOCKS), "table must hold at most .* in a cell"),
        (
            lambda: joint.cells_for_channels(TABLE, [TWO_COINS]),
            "channels must be one for each axis, 2, got 1",
        ),
        (lambda: regression.tallies([[1]], None, [3], TWO_COINS), "counts must be a list"),
        (lambda: regression.tallies([[1]], [3], None, TWO_COINS), "sizes must be a list"),
        (lambda: regression.tallies([[1]], [True], [3], TWO_COINS), r"counts .* got \[True\]"),
        (lambda: regression.wald(FIT, observed=1), "observed must be True or False, got 1"),
        (lambda: weights.kish([0, 0]), r"w must not be 0 everywhere, got .*0"),
        (
            lambda: weights.poststratified(TABLE, BLOCKS, [1e308, 0]),
            r"shares must be between 0 and 1, got .*1e\+308.* at 0",
        ),
        (
            lambda: profiles.fit([[0]], [1], [Block(0.5, (0,))], (2,), 10**400, 1),
            "classes must be at most 1000, got 1000",
        ),
        (lambda: planning.best_blocks(10**5, 1.0), "questions must be at most 10000, got 100000"),
        (lambda: planning.best_blocks(5, 1.0, ceiling=True), "ceiling must be positive, got True"),
        (
            lambda: planning.block_variance(99, 51, 1, 1.0),
            r"size must make at most .* cells, got 2\^51",
        ),
        (lambda: planning.epsilon_for(0.1, 9, options=10**400), "options must be at most"),
        (lambda: planning.sample_size(10**400, TWO_COINS), "half_width must be positive, finite"),
        (lambda: planning.sample_size(5e-324, TWO_COINS), "half_width must be positive, finite"),
        (lambda: privacy.group(1.0, 10**400), "people must be at most"),
        (lambda: privacy.shuffled(1.0, 10, 0.1, 10**400), "cells must be at most"),
        (lambda: privacy.composed(b"x"), "losses must be a sequence, got b'x'"),
    ],
)
def test_arguments_that_used_to_crash_or_pass_are_refused(call, message):
    with warnings.catch_warnings(), pytest.raises(ValueError, match=message):
        warnings.simplefilter("error")
        call()


@pytest.mark.parametrize("method", proportion.METHODS)
def test_the_rarest_answers_of_the_most_reports_have_limits(method):
    """Even if n times the rates is less than their rounding errors."""
    for channel, count in ((Channel(1e-300, 0), 0), (Channel(1, 1 - 2**-53), proportion.LARGEST)):
        low, high = proportion.interval(count, proportion.LARGEST, channel, method=method)
        assert 0 <= low <= high <= 1


def test_counts_at_the_end_of_a_narrow_channel_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = sequence.interval(proportion.LARGEST, proportion.LARGEST, Channel(1, 0))
        assert 1 - 1.1e-12 < low < high == 1
        for n in (10, proportion.LARGEST):
            found = weights.pooled([n], [n], [Channel(1, 0.999999)])
            assert found.value == pytest.approx(1, abs=1e-9)
            assert found.privacy is None or found.effective_size > 0
