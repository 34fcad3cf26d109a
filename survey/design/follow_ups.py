"""Follow-ups: which questions belong together, and what a block of them costs.

A follow-up is always in a block with the question it depends on, its gate. Several follow-ups of
one gate can share a block, or have a block each that also contains the gate. The second is often
better, because K is small; it is possible if one person is asked only one block, since otherwise
somebody could be asked the same gate in two blocks.
"""

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from survey.design.grouping import Item, Plan, plan, variance_factor
from survey.design.mechanism import MAX_CELLS, Cells, MechanismError
from survey.design.questions import DesignError, Question, shapes

COMPARED = 3  # with more trees than this, either all of them are divided or none


class Grouping(NamedTuple):
    """The positions of the questions by block, and how many blocks one person is asked."""

    blocks: tuple[tuple[int, ...], ...]
    ask: int


def choose_blocks(questions: Sequence[Question], epsilon: float, ask: int | None) -> Grouping:
    """Return the blocks and `ask` with the least variance."""
    trees = _trees(questions)
    choices = [_ways(tree, questions) for tree in trees]
    divisible = sum(len(choice) > 1 for choice in choices)
    if divisible > COMPARED or ask not in (None, 1):
        whole, paths = [choice[0] for choice in choices], [choice[-1] for choice in choices]
        variants = [whole, paths] if ask in (None, 1) else [whole]
    else:
        variants = [list(variant) for variant in product(*choices)]
    best: tuple[Plan, list[tuple[int, ...]]] | None = None
    problem: DesignError | None = None
    for variant in variants:
        members = [positions for tree in variant for positions in tree]
        divided = len(members) > len(trees)
        items = _items(members, questions)
        try:
            _check_sizes(members, items, questions)
            found = plan(items, epsilon, 1 if divided else ask)
        except DesignError as error:  # too few blocks for this ε, or a block too large
            problem = problem or error
            continue
        if best is None or found.factor < best[0].factor * (1 - 1e-9):
            best = found, members
    if best is None:
        assert problem is not None  # noqa: S101  # for the type checker
        raise problem
    found, members = best
    blocks = [sorted({i for item in block for i in members[item]}) for block in found.blocks]
    return Grouping(tuple(sorted(map(tuple, blocks))), found.ask)


def _check_sizes(
    members: Sequence[tuple[int, ...]], items: Sequence[Item], questions: Sequence[Question]
) -> None:
    for positions, item in zip(members, items, strict=True):
        if item.cells > MAX_CELLS:
            raise DesignError(
                f"questions {questions[positions[0]].key}",
                f"with its follow-ups it has more than {MAX_CELLS:,} combinations of answers",
            )


def _ways(tree: tuple[int, ...], questions: Sequence[Question]) -> list[list[tuple[int, ...]]]:
    """Return how a tree can be divided: not at all, or into one item for each last follow-up."""
    paths = _paths(tree, questions)
    return [[tree], paths] if len(paths) > 1 else [[tree]]


def spread(blocks: Sequence[Sequence[Question]], epsilon: float, ask: int) -> float:
    """Return the sum over questions of n Var / (variance without privacy), for these blocks."""
    return variance_factor([[i] for i in range(len(blocks))], items_of(blocks), epsilon, ask)


def trees(questions: Sequence[Question]) -> list[list[Question]]:
    """Return the questions, with those that depend on each other together."""
    return [[questions[i] for i in tree] for tree in _trees(questions)]


def items_of(blocks: Sequence[Sequence[Question]]) -> list[Item]:
    """Return one item for each block of an existing grouping."""
    positions: dict[str, int] = {}
    for block in blocks:
        for question in block:
            positions.setdefault(question.key, len(positions))
    known = {question.key: question for block in blocks for question in block}
    members = [tuple(positions[question.key] for question in block) for block in blocks]
    return list(_items(members, [known[key] for key in positions]))


def _items(members: Sequence[tuple[int, ...]], questions: Sequence[Question]) -> tuple[Item, ...]:
    """Return the questions at these positions as items for the grouping."""
    copies = [sum(i in item for item in members) for i in range(len(questions))]
    return tuple(_item([(questions[i], copies[i]) for i in item]) for item in members)


def _item(members: Sequence[tuple[Question, int]]) -> Item:
    weight = sum(1 / copies**2 for _, copies in members)
    found = shapes([question for question, _ in members])
    if found[0].picks:  # a report shows one of r slots, which costs r times the precision
        return Item((found[0].size / found[0].picks) + 1, weight * found[0].picks, alone=True)
    try:
        return Item(float(Cells(1, found).cells), weight)
    except MechanismError:  # too many combinations of answers
        return Item(math.inf, weight)


def _trees(questions: Sequence[Question]) -> list[tuple[int, ...]]:
    """Return the positions of questions that depend on each other, by the first of them."""
    root: dict[str, int] = {}
    trees: dict[int, list[int]] = {}
    for place, question in enumerate(questions):
        first = root[question.only_if[0]] if question.only_if else place
        root[question.key] = first
        trees.setdefault(first, []).append(place)
    return [tuple(tree) for tree in trees.values()]


def _paths(tree: tuple[int, ...], questions: Sequence[Question]) -> list[tuple[int, ...]]:
    """Return each last follow-up of a tree with all that it depends on."""
    parent = {i: questions[i].only_if for i in tree}
    place = {questions[i].key: i for i in tree}
    gates = {only[0] for only in parent.values() if only}
    paths = []
    for last in tree:
        if questions[last].key in gates:
            continue
        path = [last]
        while only := parent[path[-1]]:
            path.append(place[only[0]])
        paths.append(tuple(sorted(path)))
    return paths
