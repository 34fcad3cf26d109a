"""The surveys of the demo and the invented people who answer them.

What is true of these people is meant to be found: the groups differ, some answers go together, and
those who answer first are worse off than those who follow.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple

from operations.demo import CLOSED, OPEN
from survey.design.questions import pick
from survey.simulation import Population, Shares


class DemoSurvey(NamedTuple):
    slug: str
    waves: tuple[int, ...]  # how many people answer before each release
    background: Shares
    population: Callable[[int, Random], Population]  # of a wave
    closes: bool = False  # after the last wave, with public results


def yes(share: float) -> list[float]:
    """Return the shares of no and yes."""
    return [1 - share, share]


def certain(position: int, options: int) -> list[float]:
    """Return the shares of an answer that is already drawn."""
    return [float(i == position) for i in range(options)]


# --- The staff of a hospital ----------------------------------------------------------------------

STAFF = {"role": [0.50, 0.17, 0.30, 0.03], "years": [0.33, 0.40, 0.25, 0.02]}
STRAINED = [0.80, 0.60, 0.40, 0.25, 0.20]  # by wave: the strained answer first
MORE_STRAINED = {"role": [0.25, 0.05, -0.35, 0.0], "years": [0.10, 0.0, -0.10, 0.0]}

# By role. Those who prefer not to say what they are answer like other staff.
HARASSED = [[0.44, 0.52, 0.04], [0.59, 0.36, 0.05], [0.86, 0.11, 0.03]]
WHO = [[0.70, 0.18, 0.12], [0.45, 0.25, 0.30], [0.20, 0.40, 0.40]]
WORKED_ILL = [0.55, 0.65, 0.25]
OVERTIME = [[0.55, 0.30, 0.12, 0.03], [0.10, 0.25, 0.40, 0.25], [0.88, 0.10, 0.02, 0.0]]
TOLD = [0.65, 0.35, 0.10]  # by who it was
# For people who are not strained, and who are.
EXHAUSTED = [[0.20, 0.48, 0.26, 0.06], [0.02, 0.12, 0.46, 0.40]]
LEAVING = [0.08, 0.70]
MORE_ILL = [0.0, 0.15]
SUBSTANCES = [[0.10, 0.05, 0.06, 0.02, 0.04], [0.22, 0.18, 0.27, 0.08, 0.05]]


def staff(wave: int, random: Random) -> Population:
    def person(groups: Mapping[str, int]) -> Shares:
        role = min(groups["role"], 2)
        strain = STRAINED[wave] + sum(MORE_STRAINED[key][place] for key, place in groups.items())
        strained = random.random() < strain
        who = pick(WHO[role], random)
        return {
            "harassed": HARASSED[role],
            "who": certain(who, 3),
            "told": yes(TOLD[who]),
            "exhausted": EXHAUSTED[strained],
            "leaving": yes(LEAVING[strained]),
            "worked-ill": yes(WORKED_ILL[role] + MORE_ILL[strained]),
            "overtime": OVERTIME[role],
            "substances": SUBSTANCES[strained],
        }

    return person


# --- The applicants of a city's permits offices ---------------------------------------------------

APPLICANTS = {"office": [0.40, 0.33, 0.25, 0.02], "building": [0.65, 0.32, 0.03]}

# By office. Those who prefer not to say which answer like those of the last.
ASKED = [0.30, 0.62, 0.12]
HAPPENED = [[0.12, 0.30, 0.15, 0.10], [0.25, 0.35, 0.60, 0.20], [0.08, 0.25, 0.04, 0.03]]
MORE_ASKED = [0.0, 0.10, 0.0]  # by what they wanted to build
PAID = 0.70
# For people who were not asked to pay, who were and refused, and who paid.
WAIT = [[0.30, 0.52, 0.18], [0.02, 0.25, 0.73], [0.74, 0.22, 0.04]]
NOTHING = certain(0, 1000)  # the lowest thousandth of the range
EXTRA = [NOTHING, NOTHING, [0.10, 0.25, 0.35, 0.20, 0.10]]


def applicants(wave: int, random: Random) -> Population:
    def person(groups: Mapping[str, int]) -> Shares:
        office = min(groups["office"], 2)
        asked = random.random() < ASKED[office] + MORE_ASKED[groups["building"]]
        paid = asked and random.random() < PAID
        case = asked + paid
        return {
            "asked": certain(asked, 2),
            "paid": certain(paid, 2),
            "wait": WAIT[case],
            "extra": EXTRA[case],
            "happened": HAPPENED[office],
        }

    return person


ANSWERED = (
    DemoSurvey(OPEN, (1500, 1000, 1000, 750, 750), STAFF, staff),
    DemoSurvey(CLOSED, (1000, 1500), APPLICANTS, applicants, closes=True),
)
