"""Which intervals a reader wants."""

from dataclasses import dataclass

FIXED, ALWAYS = "fixed", "always"  # for one look, and valid at every look


@dataclass(frozen=True)
class IntervalChoice:
    """Which intervals: their level, their kind, and the part of forged reports in percent.

    While a survey is open people look again and again, so its intervals hold at every look; once it
    is closed, those for one look are enough. These are the headline intervals, everywhere.
    """

    level: int = 95
    interval: str = FIXED
    forged: float = 0.0  # of everybody; results by group take every report as it is

    @classmethod
    def headline(cls, final: bool) -> "IntervalChoice":
        return cls(interval=FIXED if final else ALWAYS)

    @property
    def kind(self) -> str:
        """The name of the intervals on pages and in files."""
        return "interim" if self.always else "final"

    @property
    def always(self) -> bool:
        return self.interval == ALWAYS

    @property
    def coverage(self) -> float:
        return self.level / 100

    @property
    def wrong(self) -> int:
        """In how many of 100 surveys an interval may miss the truth."""
        return 100 - self.level
