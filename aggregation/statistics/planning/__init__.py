"""Before a survey: how many people, how much privacy, how precise, and how to ask.

Nothing here looks at reports. ``share`` is a guess of the share of yes answers. Without one the
worst case is taken, so the plan holds whatever the answers are.

``dropout`` is the part of the people invited who never report: it makes results less precise, but
not wrong. ``forged`` is the part of the reports that may be forged, in the worst way: more people
do not make up for it. ``looks`` is "one" for an interval that is looked at once, at the end, and
"every" for one that is valid at every look (``sequence.interval`` with its defaults), which is
wider.
"""

from aggregation.statistics.planning.blocks import Blocks, best_blocks, block_variance
from aggregation.statistics.planning.groups import (
    half_width_in_group,
    power_of_difference,
    reports_in_group,
    sample_size_of_difference,
    smallest_difference,
)
from aggregation.statistics.planning.levels import (
    best_levels,
    half_width_of_mean,
    mean_variance,
    noise_variance,
)
from aggregation.statistics.planning.one_share import (
    epsilon_for,
    forgers_reach,
    half_width,
    half_widths,
    power,
    sample_size,
)

__all__ = [
    "Blocks",
    "best_blocks",
    "best_levels",
    "block_variance",
    "epsilon_for",
    "forgers_reach",
    "half_width",
    "half_width_in_group",
    "half_width_of_mean",
    "half_widths",
    "mean_variance",
    "noise_variance",
    "power",
    "power_of_difference",
    "reports_in_group",
    "sample_size",
    "sample_size_of_difference",
    "smallest_difference",
]
