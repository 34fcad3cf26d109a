"""Latent classes, against a likelihood written out and against the classes that made the data."""

import itertools
import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.optimize import minimize

from aggregation.statistics.joint import Block
from aggregation.statistics.profiles import fit
from aggregation.statistics.proportion import Channel, estimate

SHARES = np.array([0.7, 0.3])
YES = np.array([[0.1, 0.2, 0.15, 0.3, 0.25, 0.05], [0.8, 0.7, 0.9, 0.6, 0.85, 0.75]])
ANSWERS = [np.stack([1 - p, p], axis=1) for p in YES.T]
SINGLES = [Block(0.76, (j,)) for j in range(6)]  # epsilon 2 for each question
PAIRS = [Block(0.6, (0, 3)), Block(0.6, (4, 1)), Block(0.6, (2, 5))]
TRIPLES = [Block(0.5, (0, 1, 2)), Block(0.5, (3, 4, 5))]
CHANNELS = [Channel(0.8, 0.1), Channel(0.95, 0.4), Channel(0.7, 0.3)] * 2
MIXED = [Block(0.6, (0, 1)), Block(0.8, (2,)), Block(0.9, (3,)), Block(1, (4,))]
MIXED_ANSWERS = [
    np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]),
    np.array([[0.9, 0.1], [0.4, 0.6]]),
    np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]]),
    np.array([[0.2, 0.8], [0.7, 0.3]]),
    np.array([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]]),
]


def every_pattern(answers):
    return np.array(list(itertools.product(*(range(p.shape[1]) for p in answers))))


def rates(patterns, blocks, shares, answers):
    """Return P(pattern), summing over classes and coins."""
    total = np.zeros(len(patterns))
    for c, share in enumerate(shares):
        law = np.full(len(patterns), float(share))
        for axis, block in enumerate(blocks):
            if isinstance(block, Channel):
                yes = block.b + block.contrast * answers[axis][c, 1]
                law *= np.where(patterns[:, axis] == 1, yes, 1 - yes)
                continue
            keep, axes, _ = block
            truth = np.prod([answers[j][c, patterns[:, j]] for j in axes], axis=0)
            chance = np.prod([1 / answers[j].shape[1] for j in axes])
            asked = patterns[:, axes[0]] >= 0
            law *= np.where(asked, keep * truth + (1 - keep) * chance, 1)
        total += law
    return total


def yes_of(answers):
    """Return the second option's column of every question: [class, question]."""
    return np.array([p[:, 1] for p in answers]).T


def sizes_of(answers):
    return tuple(p.shape[1] for p in answers)


def exact(blocks, shares=SHARES, answers=ANSWERS, n=10**12):
    patterns = every_pattern(answers)
    law = rates(patterns, blocks, shares, answers)
    assert law.sum() == pytest.approx(1)
    return patterns, np.rint(n * law).astype(np.int64)


def sample(blocks, n, seed, shares=SHARES, answers=ANSWERS):
    patterns = every_pattern(answers)
    law = rates(patterns, blocks, shares, answers)
    return patterns, np.random.default_rng(seed).multinomial(n, law)


@pytest.mark.parametrize(
    "blocks, answers",
    [
        (SINGLES, ANSWERS),
        (PAIRS, ANSWERS),
        (TRIPLES, ANSWERS),
        (CHANNELS, ANSWERS),
        (MIXED, MIXED_ANSWERS),
    ],
    ids=["singles", "pairs", "triples", "channels", "mixed"],
)
def test_classes_are_recovered_from_exact_frequencies(blocks, answers):
    patterns, counts = exact(blocks, answers=answers)
    found = fit(patterns, counts, blocks, sizes_of(answers), 2, 1, starts=4)
    assert found.converged
    assert found.warning is None
    assert found.shares == pytest.approx(SHARES, abs=1e-7)
    for p, expected in zip(found.answers, answers, strict=True):
        assert p == pytest.approx(expected, abs=1e-7)
    assert found.agreeing >= 2
    assert found.people == counts.sum()


def test_three_classes_are_recovered():
    shares = np.array([0.5, 0.3, 0.2])
    yes = np.array([[0.1] * 6, [0.9, 0.9, 0.9, 0.1, 0.2, 0.1], [0.8, 0.1, 0.2, 0.9, 0.9, 0.7]])
    answers = [np.stack([1 - p, p], axis=1) for p in yes.T]
    patterns, counts = exact(PAIRS, shares, answers)
    found = fit(patterns, counts, PAIRS, (2,) * 6, 3, 2)
    assert found.shares == pytest.approx(shares, abs=1e-6)
    assert yes_of(found.answers) == pytest.approx(yes, abs=1e-6)


def test_a_block_is_not_a_product_of_its_questions():
    """Treating every question as if it had its own coin gives other classes."""
    patterns, counts = exact(TRIPLES)
    right = fit(patterns, counts, TRIPLES, (2,) * 6, 2, 1, starts=4)
    wrong = fit(patterns, counts, [Block(0.5, (j,)) for j in range(6)], (2,) * 6, 2, 1, starts=4)
    assert abs(right.answers[0] - ANSWERS[0]).max() < 1e-6
    assert abs(wrong.shares - SHARES).max() > 0.05
    assert wrong.log_likelihood < right.log_likelihood


def test_classes_are_recovered_when_blocks_were_not_asked():
    """Every person answers two of three blocks, drawn at random."""
    patterns, laws = [], []
    for left_out in PAIRS:
        masked = every_pattern(ANSWERS)
        masked[:, left_out.axes] = -1
        masked = np.unique(masked, axis=0)
        patterns.append(masked)
        laws.append(rates(masked, PAIRS, SHARES, ANSWERS) / 3)
    counts = np.rint(1e12 * np.concatenate(laws)).astype(np.int64)
    found = fit(np.concatenate(patterns), counts, PAIRS, (2,) * 6, 2, 1, starts=4)
    assert found.warning is None
    assert found.shares == pytest.approx(SHARES, abs=1e-7)
    assert yes_of(found.answers) == pytest.approx(YES, abs=1e-6)
    one = fit(patterns[0][:3], [5, 6, 7], PAIRS, (2,) * 6, 1, 1)
    assert one.people == 18


# --- the likelihood and its maximum -------------------------------------------------------------


def free_to_full(free, sizes, classes):
    """Complete shares and answers from all but the last value of each distribution."""
    free = list(free)

    def law(k):
        head = [free.pop(0) for _ in range(k - 1)]
        return [*head, 1 - sum(head)]

    shares = np.array(law(classes))
    return shares, [np.array([law(size) for _ in range(classes)]) for size in sizes]


def full_to_free(shares, answers):
    return np.concatenate([shares[:-1], *(p[:, :-1].ravel() for p in answers)])


@pytest.mark.parametrize(
    "blocks, answers",
    [(SINGLES, ANSWERS), (PAIRS, ANSWERS), (CHANNELS, ANSWERS), (MIXED, MIXED_ANSWERS)],
    ids=["singles", "pairs", "channels", "mixed"],
)
def test_maximum_and_standard_errors_agree_with_numeric_ones(blocks, answers):
    sizes = sizes_of(answers)
    patterns, counts = sample(blocks, 20_000, 3, answers=answers)
    found = fit(patterns, counts, blocks, sizes, 2, 1, starts=3)
    seen = counts > 0

    def loss(free):
        law = rates(patterns[seen], blocks, *free_to_full(free, sizes, 2))
        return -(counts[seen] @ np.log(law))

    point = full_to_free(found.shares, found.answers)
    assert found.parameters == point.size
    assert found.log_likelihood == pytest.approx(-loss(point), rel=1e-13)
    assert found.bic == pytest.approx(2 * loss(point) + point.size * math.log(20_000))
    # Another optimizer finds nothing better nearby.
    other = minimize(loss, point, method="BFGS", options={"gtol": 1e-2})
    assert other.fun > loss(point) - 1e-5
    # Observed information by differences of differences.
    h = 1e-4
    steps = h * np.eye(point.size)
    hessian = np.empty((point.size, point.size))
    for i, j in itertools.combinations_with_replacement(range(point.size), 2):
        u, v = steps[i], steps[j]
        corners = loss(point + u + v) - loss(point + u - v) - loss(point - u + v)
        hessian[i, j] = hessian[j, i] = (corners + loss(point - u - v)) / (4 * h * h)
    errors = np.sqrt(np.diag(np.linalg.inv(hessian)))
    assert full_to_free(found.share_errors, found.answer_errors) == pytest.approx(errors, rel=2e-3)
    # Of two options, and of two classes, one is the rest of the other.
    assert found.share_errors[0] == pytest.approx(found.share_errors[1])
    assert found.answer_errors[1][:, 0] == pytest.approx(found.answer_errors[1][:, 1])


def test_the_maximum_is_a_fixed_point_of_the_textbook_em():
    """Responsibilities from lambda = b + c p, then means of E[x | y] = p a / lambda."""
    patterns, counts = sample(CHANNELS, 5_000, 4)
    found = fit(patterns, counts, CHANNELS, (2,) * 6, 2, 1)
    a = np.array([channel.a for channel in CHANNELS])
    b = np.array([channel.b for channel in CHANNELS])
    p = yes_of(found.answers)[None]
    y = patterns[:, None]
    lam = b + (a - b) * p
    joint = found.shares * np.where(y == 1, lam, 1 - lam).prod(axis=2)
    weight = joint / joint.sum(axis=1, keepdims=True) * counts[:, None]
    answer = np.where(y == 1, p * a / lam, p * (1 - a) / (1 - lam))
    new = (weight[..., None] * answer).sum(axis=0) / weight.sum(axis=0)[:, None]
    assert weight.sum(axis=0) / 5_000 == pytest.approx(found.shares, abs=1e-7)
    assert new == pytest.approx(p[0], abs=1e-7)


def test_one_class_gives_the_share_of_each_question():
    patterns, counts = sample(SINGLES, 3_000, 5)
    found = fit(patterns, counts, SINGLES, (2,) * 6, 1, 1, starts=2)
    assert found.shares == pytest.approx([1])
    assert found.share_errors == pytest.approx([0])
    for j, (p, error) in enumerate(zip(found.answers, found.answer_errors, strict=True)):
        yes = int(counts[patterns[:, j] == 1].sum())
        share = estimate(yes, 3_000, Channel(0.88, 0.12))
        assert p[0, 1] == pytest.approx(share.value, abs=1e-7)
        assert error[0, 1] == pytest.approx(share.standard_error * math.sqrt(2999 / 3000), rel=1e-6)


def test_without_noise_it_is_the_ordinary_model():
    clear = [Block(1, (j,)) for j in range(6)]
    patterns, counts = sample(clear, 5_000, 6)
    found = fit(patterns, counts, clear, (2,) * 6, 2, 1, starts=3)
    near = fit(
        patterns, counts, [Block(1 - 1e-9, (j,)) for j in range(6)], (2,) * 6, 2, 1, starts=3
    )
    assert found.shares == pytest.approx(SHARES, abs=4 * found.share_errors[0])
    assert near.shares == pytest.approx(found.shares, abs=1e-6)
    noisy = fit(*sample(SINGLES, 5_000, 6), SINGLES, (2,) * 6, 2, 1, starts=3)
    assert noisy.share_errors[0] > found.share_errors[0]


def test_standard_errors_are_those_of_repeated_surveys():
    """60 surveys of 5000, blocks of two, 13 parameters: z-values have mean 0 and mean square 1.

    Means within 4 standard errors, mean squares below 1 + 5 standard errors, their mean within
    0.2 of 1. Error bars 20 % too short would give 1.56.
    """
    truth = np.concatenate([SHARES[:1], YES.ravel()])
    z = []
    for seed in range(60):
        found = fit(*sample(PAIRS, 5_000, 100 + seed), PAIRS, (2,) * 6, 2, 1, starts=2)
        yes, errors = (yes_of(x).ravel() for x in (found.answers, found.answer_errors))
        error = np.concatenate([found.share_errors[:1], errors])
        z.append((np.concatenate([found.shares[:1], yes]) - truth) / error)
    z = np.array(z)
    assert np.nanmean(z**2) == pytest.approx(1, abs=0.2)
    assert (abs(np.nanmean(z, axis=0)) < 4 / math.sqrt(60)).all()
    assert np.nanmean(z**2, axis=0).max() < 1.9


# --- invariance ---------------------------------------------------------------------------------


def test_the_order_of_patterns_and_the_split_of_counts_do_not_matter():
    patterns, counts = sample(PAIRS, 2_000, 7)
    first = fit(patterns, counts, PAIRS, (2,) * 6, 2, 9, starts=2)
    order = np.random.default_rng(1).permutation(len(patterns))
    halves = np.concatenate([counts[order] // 2, counts - counts // 2])
    second = fit(
        np.concatenate([patterns[order], patterns]), halves, PAIRS, (2,) * 6, 2, 9, starts=2
    )
    assert second.log_likelihood == first.log_likelihood
    assert (second.shares == first.shares).all()
    chance = np.random.default_rng(9)
    third = fit(patterns, counts, PAIRS, (2,) * 6, 2, chance, starts=2)
    assert third.log_likelihood == first.log_likelihood
    with pytest.raises(FrozenInstanceError):
        first.bic = 0


def test_relabelling_options_and_questions_relabels_the_result():
    patterns, counts = sample(MIXED, 20_000, 8, answers=MIXED_ANSWERS)
    sizes = sizes_of(MIXED_ANSWERS)
    plain = fit(patterns, counts, MIXED, sizes, 2, 1, starts=3)
    flipped = fit(np.array(sizes) - 1 - patterns, counts, MIXED, sizes, 2, 1, starts=3)
    assert flipped.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)
    assert flipped.answers[2][:, ::-1] == pytest.approx(plain.answers[2], abs=1e-6)
    assert flipped.answer_errors[0][:, ::-1] == pytest.approx(plain.answer_errors[0], rel=1e-4)
    moved = [Block(keep, tuple(4 - j for j in axes)) for keep, axes, _ in MIXED]
    turned = fit(patterns[:, ::-1], counts, moved, sizes[::-1], 2, 1, starts=3)
    assert turned.answers[4] == pytest.approx(plain.answers[0], abs=1e-6)


# --- how many classes, and whether they are determined ------------------------------------------


def test_bic_finds_the_number_of_classes():
    patterns, counts = sample(PAIRS, 10_000, 9)
    fits = [fit(patterns, counts, PAIRS, (2,) * 6, c, 1, starts=3) for c in (1, 2, 3)]
    assert [one.parameters for one in fits] == [6, 13, 20]
    assert min(fits, key=lambda one: one.bic) is fits[1]
    likelihoods = [one.log_likelihood for one in fits]
    assert likelihoods == sorted(likelihoods)


def test_too_few_questions_are_reported():
    few = [Block(0.8, (0,)), Block(0.8, (1,))]
    found = fit(*exact(few, answers=ANSWERS[:2], n=10_000), few, (2, 2), 2, 1, starts=2)
    assert found.warning == "5 parameters, but the reports determine 3 at most"


def test_goodmans_undetermined_example_is_reported():
    """Three classes and four yes/no questions: 14 parameters, 15 cells, yet not determined."""
    shares = np.array([0.4, 0.35, 0.25])
    yes = np.array([[0.9, 0.8, 0.7, 0.9], [0.2, 0.7, 0.3, 0.1], [0.5, 0.1, 0.8, 0.4]])
    answers = [np.stack([1 - p, p], axis=1) for p in yes.T]
    blocks = [Block(0.9, (j,)) for j in range(4)]
    found = fit(*exact(blocks, shares, answers), blocks, (2,) * 4, 3, 1, starts=2)
    assert found.parameters == 14
    assert found.warning is not None and "singular" in found.warning
    assert np.isnan(found.share_errors).all()


def test_questions_never_asked_together_determine_little():
    """With one of six questions per person, the shares of the classes are not determined."""
    patterns = np.full((12, 6), -1)
    patterns[np.arange(12), np.arange(12) // 2] = np.arange(12) % 2
    counts = np.arange(50, 62)
    found = fit(patterns, counts, SINGLES, (2,) * 6, 2, 1, starts=1)
    assert found.warning == "13 parameters, but the reports determine 6 at most"


def test_certain_answers_have_no_standard_error():
    answers = [np.array([[1.0, 0.0], [0.3, 0.7]]), *ANSWERS[1:]]
    found = fit(*exact(PAIRS, answers=answers, n=10_000), PAIRS, (2,) * 6, 2, 1, starts=3)
    assert found.answers[0][0, 1] == pytest.approx(0, abs=0.01)
    edge = np.concatenate([p.ravel() for p in found.answers])
    errors = np.concatenate([p.ravel() for p in found.answer_errors])
    assert (np.isnan(errors) == ((edge < 1e-6) | (edge > 1 - 1e-6))).all()


def test_giving_up_is_reported():
    patterns, counts = sample(PAIRS, 1_000, 10)
    assert not fit(patterns, counts, PAIRS, (2,) * 6, 2, 1, starts=1, max_iterations=2).converged


# --- arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, message",
    [
        ({"patterns": [[0, 1], [1, 2]]}, "patterns must be -1 to 1 in column 1, got 2"),
        ({"patterns": [[0, -2], [1, 1]]}, "patterns must be -1 to 1 in column 1, got -2"),
        ({"patterns": [[0.0, 1.0], [1.0, 1.0]]}, "patterns must be integers in 2 columns"),
        ({"patterns": [[0, 1, 1], [1, 1, 1]]}, "patterns must be integers in 2 columns"),
        ({"patterns": [0, 1]}, "patterns must be integers in 2 columns"),
        ({"patterns": [[-1, -1], [0, 1]]}, "patterns must hold a report in every row"),
        ({"patterns": [[-1, 0], [0, 1]], "blocks": [Block(0.5, (0, 1))]}, "all of a block"),
        ({"counts": [1, -1]}, "counts must be at least 0, got -1"),
        ({"counts": [0, 0]}, "counts must hold 1 to .* people, got 0"),
        ({"counts": [1, 2**51]}, "counts must hold 1 to"),
        ({"counts": [1.5, 1]}, "counts must be 2 integers, got float64"),
        ({"counts": [1]}, "counts must be 2 integers"),
        ({"counts": [True, True]}, "counts must be 2 integers, got bool"),
        ({"sizes": (2, 1)}, "sizes must be at least 2, got 1"),
        ({"sizes": 2}, "sizes must be a sequence, got 2"),
        ({"blocks": [Block(0.5, (0,))]}, "blocks must hold each of the 2 axes once"),
        ({"blocks": [Block(0, (0, 1))]}, "keep must exceed 0"),
        ({"classes": 0}, "classes must be at least 1, got 0"),
        ({"classes": 2.0}, "classes must be an integer, got 2.0"),
        ({"generator": None}, "generator must be an integer, got None"),
        ({"generator": -1}, "generator must be at least 0, got -1"),
        ({"starts": 0}, "starts must be at least 1, got 0"),
        ({"tolerance": 0}, "tolerance must be strictly between 0 and 1, got 0"),
        ({"max_iterations": 0}, "max_iterations must be at least 1, got 0"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    given = {
        "patterns": [[0, 1], [1, 1]],
        "counts": [3, 4],
        "blocks": [Block(0.5, (0,)), Block(0.5, (1,))],
        "sizes": (2, 2),
        "classes": 1,
        "generator": 1,
    } | change
    with pytest.raises(ValueError, match=message):
        fit(**given)
