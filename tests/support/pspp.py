"""GNU PSPP, which reads SPSS files without being SPSS."""

import csv
import io
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# For each file: its data as CSV, and what it says about them. Tables use names and values, not
# labels.
COMMANDS = """\
GET FILE='{name}.sav'.
SAVE TRANSLATE /OUTFILE='{name}.csv' /TYPE=CSV /FIELDNAMES /CELLS=VALUES.
DISPLAY DICTIONARY.
DISPLAY DOCUMENTS.
DISPLAY ATTRIBUTES.
"""
FREQUENCIES = "FREQUENCIES /VARIABLES=ALL /STATISTICS=NONE.\n"
ATTRIBUTES = "Variable and Dataset Attributes"
Nested = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Dataset:
    """An SPSS file as PSPP reads it, as text."""

    header: list[str]
    rows: list[list[str]]  # a space is the missing value of a number
    tables: dict[str, list[list[str]]]

    @property
    def variables(self) -> Nested:
        """Return the properties of each variable."""
        names, *lines = self.tables["Variables"]
        return {line[0]: dict(zip(names, line, strict=True)) for line in lines}

    @property
    def documents(self) -> str:
        return self.tables["Documents"][0][0]

    def nested(self, table: str) -> Nested:
        """Read a table that names each variable once and has several values for it."""
        found: Nested = {}
        current: dict[str, str] = {}
        for name, key, value in (row for row in self.tables[table][1:] if len(row) == 3):
            if name:
                current = found[name] = {}
            current[key.removesuffix("[a]")] = value  # the footnote marks a missing value
        return found

    def frequencies(self, variable: str) -> dict[str, int]:
        """Count each value; "." is the missing value."""
        lines = self.tables[variable][1:]
        return {line[1]: int(line[2]) for line in lines if line[0] != "Total"}


def read(folder: Path, names: Iterable[str], frequencies: bool = False) -> dict[str, Dataset]:
    """Read all these .sav files of a folder in one process; any warning is an error."""
    names = list(names)
    script = folder / "script.sps"
    commands = COMMANDS + (FREQUENCIES if frequencies else "")
    lines = "".join(commands.format(name=name) for name in names)
    script.write_text(f"SET TVARS=NAMES TNUMBERS=VALUES.\n{lines}")
    done = subprocess.run(
        ["pspp", "-O", "format=csv", script.name],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    listing = done.stdout
    assert done.returncode == 0 and "warning:" not in listing, done.stderr + listing[-2000:]
    found: list[dict[str, list[list[str]]]] = []
    table: list[list[str]] = []
    for row in csv.reader(io.StringIO(listing)):
        if len(row) == 1 and row[0].startswith("Table: "):
            title = row[0].removeprefix("Table: ")
            if title == "Variables":
                found.append({})
            table = found[-1].setdefault(title, [])
        elif row:
            table.append(row)
    datasets = {}
    for name, tables in zip(names, found, strict=True):
        header, *rows = csv.reader(io.StringIO((folder / f"{name}.csv").read_text()))
        datasets[name] = Dataset(header, rows, tables)
    return datasets
