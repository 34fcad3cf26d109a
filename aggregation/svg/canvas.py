"""A drawing that stands alone: a title, words and marks, from top to bottom, as one SVG file.

Presentation attributes and no style, which our own Content-Security-Policy would refuse, and a
generic font: it looks the same in every program, in print and without a page.
"""

import re
import unicodedata
from xml.etree import ElementTree

SVG = "http://www.w3.org/2000/svg"
WIDTH, MARGIN = 800, 24
INK, QUIET, LINE, ACCENT = "#1d2426", "#4a5456", "#d5d2cb", "#0f6b66"
LABELS: tuple[float, float] = (MARGIN, 236)  # from and to
SIZE, LEAD = 13, 17  # of letters, and from one line to the next
RISE = 4.5  # from the foot of a letter to its middle
BREAK = r"[^\S\u00a0\u202f]+"  # where a line may end


class Canvas:
    """An SVG that grows downwards; `y` is where the next thing stands."""

    def __init__(self, title: str, description: str, language: str = "en") -> None:
        self.root = ElementTree.Element(
            "svg", {"xmlns": SVG, "role": "img", "font-family": "sans-serif", "fill": INK}
        )
        self.language = language
        self.from_right = False  # labels stand at the right of their column
        for tag, words in (("title", title), ("desc", description)):
            ElementTree.SubElement(self.root, tag).text = _printable(words)
        self.paper = self.draw("rect", width="100%", height="100%", fill="#ffffff")
        self.y = float(MARGIN)

    def draw(self, tag: str, **attributes: object) -> ElementTree.Element:
        given = {name.replace("_", "-"): str(value) for name, value in attributes.items()}
        return ElementTree.SubElement(self.root, tag, given)

    def skip(self, height: float) -> None:
        self.y += height

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
        self, words: str, span: tuple[float, float] = (MARGIN, WIDTH - MARGIN), size: int = SIZE,
        fill: str = INK, bold: bool = False, own: bool = True,
    ) -> None:  # fmt: skip
        """A text in as many lines as it needs; each script begins on its own side.

        `own`: a text of the survey, in its language; the others are ours.
        """
        more = {"xml:lang": self.language} if own else {}
        x, anchor = span[0], "start"
        if right_to_left(words):
            x, more["direction"] = span[1], "rtl"
        elif self.from_right and span == LABELS:
            x, anchor = span[1], "end"
        for line in wrapped(words, span[1] - span[0], size * 1.08 if bold else size):
            self.y += round(size * 1.3)
            self.text(x, line, size=size, fill=fill, bold=bold, anchor=anchor, more=more)

    def done(self) -> bytes:
        height = round(self.y + MARGIN)
        sizes = {"viewBox": f"0 0 {WIDTH} {height}", "width": str(WIDTH), "height": str(height)}
        for name, value in sizes.items():
            self.root.set(name, value)
        text = ElementTree.tostring(self.root, encoding="unicode")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def rounded(place: float) -> str:
    return f"{place:.1f}".removesuffix(".0")


def _printable(text: str) -> str:
    """Without what XML has no place for; and a space that every font has."""
    kept = (" " if unicodedata.category(one) == "Cc" else one for one in text)
    return "".join(kept).replace("\u202f", "\u00a0").replace("\ufffe", "").replace("\uffff", "")


def right_to_left(text: str) -> bool:
    """By the first letter that has a direction."""
    strong = (unicodedata.bidirectional(one) for one in text)
    return next((kind for kind in strong if kind in ("L", "R", "AL")), "L") != "L"


def wrapped(text: str, width: float, size: float) -> list[str]:
    """Lines that fit, by the letters of a wide font; a word that is too long is cut."""
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
    """In parts of the size, as wide as common fonts have it at the most."""
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in " .,:;'’|!()[]/-ijlft":
        return 0.4
    return 0.98 if letter in "mwMW@%—" else 0.76 if letter.isupper() else 0.64
