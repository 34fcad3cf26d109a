"""Figures as the tests read them: SVG files, parsed and checked."""

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

SVG = "{http://www.w3.org/2000/svg}"
ALLOWED = {"svg", "title", "desc", "rect", "line", "circle", "text", "polyline"}


def parsed(data: bytes) -> Element:
    root = ElementTree.fromstring(data)
    assert root.tag == f"{SVG}svg" and root.get("role") == "img"
    assert root[0].tag == f"{SVG}title" and root[0].text and root[1].tag == f"{SVG}desc"
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    assert root.get("viewBox") == f"0 0 {width:g} {height:g}"
    assert root.get("font-family") == "sans-serif"
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in ALLOWED
        assert not {"style", "class", "href", "id"} & set(element.keys())
        for name in ("x", "x1", "x2", "cx"):
            assert 0 <= float(element.get(name, "0")) <= width
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(element.get(name, "0")) <= height
    return root


def texts(root: Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def words(root: Element) -> str:
    return " ".join(texts(root))


def place(root: Element, text: str, name: str = "x") -> float:
    return float(next(e.get(name, "") for e in root.iter(f"{SVG}text") if e.text == text))
