"""What the coins of a design's blocks do to a table of reports."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aggregation.counting.tables import Axes, Tally
from aggregation.statistics import joint
from survey.design import Block, Design
from survey.design.mechanism import SCALE

Chances = NDArray[np.float64]


def together(design: Design, axes: Sequence[str]) -> bool:
    """Return whether anybody is asked all of these questions."""
    return _blocks(design, axes) is not None


def parts(design: Design, axes: Axes, tally: Tally | None = None) -> list[joint.Block]:
    """Return the coins of a table with these questions that somebody is asked together.

    A question in several blocks, of which each person is asked one, goes with the block that the
    others are in. If all of them are in several blocks, their reports together have the mean of
    the coins of these blocks, weighted by the reports in `tally`.
    """
    found = []
    for blocks, keys in _blocks(design, axes) or []:
        weights = np.array(_reports(design, blocks, tally), dtype=np.float64)
        weights /= weights.sum()
        kept = [block.keep / SCALE for block in blocks]
        stray = sum(
            weight * (1 - keep) * chances_of(block, keys)
            for weight, keep, block in zip(weights, kept, blocks, strict=True)
        )
        keep = float(weights @ kept)
        at = tuple(axes.index(key) for key in keys)
        found.append(joint.Block(keep, at, stray / (1 - keep)))
    return found


def _blocks(design: Design, axes: Sequence[str]) -> list[tuple[list[Block], list[str]]] | None:
    """Return the questions by coin, each with the blocks that may be it; None if not together."""
    places = {key: [block for block, _ in design.places[key]] for key in axes}
    background = [key for key in axes if places[key][0].background]
    sensitive = [key for key in axes if key not in background]
    found = [([places[key][0]], [key]) for key in background]
    if any(len(places[key]) > 1 for key in sensitive):  # then one block is asked
        shared = [one for one in design.sensitive_blocks
                  if all(one in places[key] for key in sensitive)]  # fmt: skip
        return [*found, (shared, sensitive)] if shared else None
    for block in design.sensitive_blocks:
        if keys := [key for key in sensitive if places[key] == [block]]:
            found.append(([block], keys))
    return found if len(found) - len(background) <= design.ask else None


def _reports(design: Design, blocks: Sequence[Block], tally: Tally | None) -> list[int]:
    """Return how many reports hold each block; without a tally, each is as likely."""
    if tally is None or len(blocks) == 1:
        return [1] * len(blocks)
    own = [
        next(one.key for one in block.questions if len(design.places[one.key]) == 1)
        for block in blocks
    ]
    counts = [sum(tally[key][""][0]) for key in own]
    return counts if any(counts) else [1] * len(blocks)


def chances_of(block: Block, keys: Sequence[str]) -> Chances:
    """Return how often a random report shows each combination of values of some questions.

    One axis for each question, in the order of `keys`. The block's cells are counted one question
    after the other. A question that is not wanted is summed out once no later one depends on it.
    """
    shapes = block.mechanism.questions
    wanted = [[one.key for one in block.questions].index(key) for key in keys]
    needed = {shape.only_if[0]: place for place, shape in enumerate(shapes) if shape.only_if}
    table, axes = np.ones(()), list[int]()
    for place, (question, shape) in enumerate(zip(block.questions, shapes, strict=True)):
        asked = [1.0] * shape.size + ([float(shape.picks)] if shape.picks else [])
        asked += [0.0] * (question.values - len(asked))
        if shape.only_if is None:
            table = np.multiply.outer(table, asked)
        else:
            gate, values = shape.only_if
            skipped = [0.0] * shape.size + [1.0]
            axis = axes.index(gate)
            rows = np.array(
                [asked if value in values else skipped for value in range(table.shape[axis])]
            )
            around = [1] * table.ndim
            around[axis] = table.shape[axis]
            table = table[..., None] * rows.reshape(*around, -1)
        axes.append(place)
        for done in [one for one in axes if one not in wanted and needed.get(one, -1) <= place]:
            table = table.sum(axis=axes.index(done))
            axes.remove(done)
    chances: Chances = table.transpose([axes.index(place) for place in wanted]) / table.sum()
    return chances
