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
    final: bool = False  # whether it is for the last release

    @classmethod
    def headline(cls, final: bool) -> "IntervalChoice":
        return cls(interval=FIXED if final else ALWAYS, final=final)

    @property
    def is_headline(self) -> bool:
        """Whether these are the headline intervals, possibly at another level."""
        return self.always != self.final

    @property
    def kind(self) -> str:
        """The name of the intervals on pages. Others than the headline's have no name."""
        if self.is_headline:
            return "interim" if self.always else "final"
        return "valid at every look" if self.always else "for one look"

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
