"""A picture in an SVG file, drawn from top to bottom.

It has presentation attributes and a generic font, so that it looks the same in every program.
Styles would be refused by our own Content-Security-Policy. Pages have their colours from CSS.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

SVG = "http://www.w3.org/2000/svg"
WIDTH, MARGIN = 800, 24
PAPER, INK, QUIET, LINE, GROUND = "#ffffff", "#1d2426", "#4a5456", "#d5d2cb", "#ecebe6"
ACCENT = "#0f6b66"
SIZE = 13  # of letters
RISE = 0.35  # from the baseline of a letter to its middle, as a part of its size
BREAK = r"[^\S\u00a0\u202f]+"  # spaces where a line may end


class Canvas:
    """An SVG that grows downwards; `y` is the position of the next element."""

    def __init__(
        self, title: str, description: str, language: str = "", width: float = WIDTH
    ) -> None:
        self.width = width
        self.root = ElementTree.Element(
            "svg", {"xmlns": SVG, "role": "img", "font-family": "sans-serif", "fill": INK}
        )
        self.language = language
        for tag, words in (("title", title), ("desc", description)):
            ElementTree.SubElement(self.root, tag).text = _printable(words)
        self.draw("rect", width="100%", height="100%", fill=PAPER)
        self.y = float(MARGIN)

    def draw(self, tag: str, **attributes: object) -> ElementTree.Element:
        given = {name.replace("_", "-"): str(value) for name, value in attributes.items()}
        return ElementTree.SubElement(self.root, tag, given)

    def skip(self, height: float) -> None:
        self.y += height

    def line(
        self, x: tuple[float, float], y: tuple[float, float], stroke: str = LINE, width: float = 1
    ) -> ElementTree.Element:
        (x1, x2), (y1, y2) = map(rounded, x), map(rounded, y)
        return self.draw("line", x1=x1, x2=x2, y1=y1, y2=y2, stroke=stroke, stroke_width=width)

    def rectangle(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        place = {"x": rounded(x), "y": rounded(y)}
        self.draw("rect", **place, width=rounded(width), height=rounded(height), fill=fill)

    def text(
        self, x: float, words: str, size: int = SIZE, fill: str = INK, anchor: str = "start",
        bold: bool = False, dy: float = 0, more: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        where = {"x": rounded(x), "y": rounded(self.y + dy)}
        element = self.draw("text", **where, font_size=size, **(more or {}))
        for name, value, usual in (
            ("fill", fill, INK),
            ("text-anchor", anchor, "start"),
            ("font-weight", "bold" if bold else "normal", "normal"),
        ):
            if value != usual:
                element.set(name, value)
        element.text = _printable(words)

    def lines(
        self, words: str, span: tuple[float, float] | None = None, size: int = SIZE,
        fill: str = INK, bold: bool = False, own: bool = True, side: str = "",
    ) -> None:  # fmt: skip
        """Write a text in as many lines as it needs, on the side of its script.

        `own`: whether it is a text of the survey, in its language. `side`: left, middle or right.
        """
        left, right = span = span or (MARGIN, self.width - MARGIN)
        more, backwards = {}, right_to_left(words)
        if own and self.language:
            more["xml:lang"] = self.language
        side = side or ("right" if backwards else "left")
        x, anchor = {
            "left": (left, "start"), "middle": ((left + right) / 2, "middle"),
            "right": (right, "end"),
        }[side]  # fmt: skip
        if backwards:
            more["direction"] = "rtl"
            anchor = {"start": "end", "end": "start"}.get(anchor, anchor)
        for line in self._wrapped(words, span, size, bold):
            self.y += lead(size)
            self.text(x, line, size=size, fill=fill, bold=bold, anchor=anchor, more=more)

    def height(
        self, words: str, span: tuple[float, float], size: int = SIZE, bold: bool = False
    ) -> float:
        """Return the height of a text."""
        return lead(size) * len(self._wrapped(words, span, size, bold))

    def _wrapped(self, words: str, span: tuple[float, float], size: int, bold: bool) -> list[str]:
        return wrapped(words, span[1] - span[0], size * 1.08 if bold else size)

    def around(
        self, middle: float, words: str, span: tuple[float, float], size: int = SIZE,
        bold: bool = False, **how: Any,
    ) -> None:  # fmt: skip
        """Write a text around this height, without changing `y`."""
        y, height = self.y, self.height(words, span, size, bold)
        self.y = middle + RISE * size - (height + lead(size)) / 2
        self.lines(words, span, size=size, bold=bold, **how)
        self.y = y

    def heading(self, title: str, notes: Sequence[str]) -> None:
        """Write a title and notes."""
        self.lines(title, size=18, bold=True)
        self.skip(6)
        for note in notes:
            self.lines(note, size=12, fill=QUIET)

    def done(self) -> bytes:
        height = round(self.y + MARGIN)
        width = round(self.width)
        sizes = {"viewBox": f"0 0 {width} {height}", "width": str(width), "height": str(height)}
        for name, value in sizes.items():
            self.root.set(name, value)
        text = ElementTree.tostring(self.root, encoding="unicode")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def rounded(place: float) -> str:
    return f"{place:.1f}".removesuffix(".0")


def lead(size: int) -> int:
    """Return the distance between lines."""
    return round(size * 1.3)


def tint(part: float) -> str:
    """Mix this part of the accent colour with white."""
    pairs = [(int(PAPER[i : i + 2], 16), int(ACCENT[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round((1 - part) * a + part * b):02x}" for a, b in pairs)


def _printable(text: str) -> str:
    """Remove what XML does not allow, and use a space that every font has."""
    kept = (" " if unicodedata.category(one) == "Cc" else one for one in text)
    return "".join(kept).replace("\u202f", "\u00a0").replace("\ufffe", "").replace("\uffff", "")


def right_to_left(text: str) -> bool:
    """Return whether the first letter with a direction is written from right to left."""
    strong = (unicodedata.bidirectional(one) for one in text)
    return next((kind for kind in strong if kind in ("L", "R", "AL")), "L") != "L"


def wrapped(text: str, width: float, size: float) -> list[str]:
    """Break a text into lines that fit, even in a wide font. Words that are too long are cut."""
    found = [""]
    for word in re.split(BREAK, text.strip()):
        longer = f"{found[-1]} {word}" if found[-1] else word
        if breadth(longer, size) <= width:
            found[-1] = longer
            continue
        if breadth(word, size) <= width:
            found.append(word)
            continue
        line = f"{found[-1]} " if found[-1] else ""
        for letter in word:
            if breadth(line + letter, size) > width and breadth(letter, size) > 0:
                found[-1] = line
                found.append("")
                line = ""
            line += letter
        found[-1] = line
    return found


def breadth(text: str, size: float) -> float:
    return size * sum(_breadth(letter) for letter in text)


def _breadth(letter: str) -> float:
    """Return the largest width of a letter in common fonts, as a part of the size."""
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in " .,:;'’|!()[]/-ijlft":
        return 0.4
    return 0.98 if letter in "mwMW@%—" else 0.76 if letter.isupper() else 0.64
