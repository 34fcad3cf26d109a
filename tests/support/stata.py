"""The few commands of Stata that reports.do uses, because Stata itself cannot be had.

This is our reading of Stata, and no proof that Stata reads a program alike. A missing number is nan
here. In Stata it is greater than every number, so a program must not depend on comparing with it.
"""

import math
import re
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

Case = dict[str, Any]
Listed = list[Case]
FUNCTIONS = {
    "sqrt": math.sqrt, "abs": abs, "min": min, "max": max, "missing": math.isnan, "nan": math.nan,
}  # fmt: skip
IGNORED = ("* ", "version ", "tempname ", "tempfile ", "postclose ", "format ", "list", "order ")


def run(program: str, reports: list[dict[str, str]]) -> Listed:
    """Return what a program lists, of a reports.dta with these lines."""
    state = _Stata(reports)
    lines = re.sub(r" ///\n\s*", " ", program).splitlines()
    for line in lines:
        state.do(line.strip().removeprefix("quietly "))
    return state.cases


def _compiled(expression: str) -> Callable[[Case], Any]:
    source = re.sub(r"!(?!=)", " not ", expression)
    source = re.sub(r"(?<![\w.])\.(?![\w])", "nan", source).replace("&", " and ")
    code = compile(source.strip(), expression, "eval")

    def value(case: Case) -> Any:
        try:
            return eval(code, FUNCTIONS, case)  # noqa: S307
        except (ZeroDivisionError, ValueError):
            return math.nan

    return value


class _Stata:
    def __init__(self, reports: list[dict[str, str]]) -> None:
        self.reports = reports
        self.cases: list[Case] = []
        self.posted: list[Case] = []
        self.columns: list[str] = []

    def do(self, line: str) -> None:
        if line.startswith(IGNORED):
            return
        for pattern, command in self.commands.items():
            if found := re.fullmatch(pattern, line):
                command(self, *found.groups())
                return
        raise AssertionError(f"not one of the commands known here: {line}")

    def postfile(self, columns: str) -> None:
        self.columns = re.sub(r"str\d+ |double\(|\)", "", columns).split()

    def use(self, columns: str) -> None:
        def number(text: str) -> float:
            return float(text) if text else math.nan

        self.cases = [{x: number(line[x]) for x in columns.split()} for line in self.reports]

    def use_posted(self) -> None:
        self.cases = self.posted

    def generate(self, name: str, expression: str) -> None:
        assert all(name not in case for case in self.cases), f"{name} already defined"
        value = _compiled(expression)
        for i, case in enumerate(self.cases, 1):
            case[name] = value(case | {"_n": i})

    def replace(self, name: str, expression: str, condition: str | None) -> None:
        value, wanted = _compiled(expression), _compiled(condition or "True")
        for case in self.cases:
            assert name in case, f"{name} not found"
            if wanted(case):
                case[name] = value(case)

    def expand(self, times: str) -> None:
        self.cases += [dict(case) for _ in range(int(times) - 1) for case in self.cases]

    def _by(self, names: Iterable[str]) -> list[list[Case]]:
        def key(case: Case) -> list[Any]:
            return [case[name] for name in names]

        self.cases.sort(key=key)
        return [list(some) for _, some in groupby(self.cases, key)]

    def number_by(self, by: str, name: str) -> None:
        for some in self._by([by]):
            for i, case in enumerate(some):
                case[name] = i

    def total_by(self, by: str, name: str, summed: str) -> None:
        for some in self._by([by]):
            total = math.fsum(case[summed] for case in some)
            for case in some:
                assert name not in case
                case[name] = total

    def collapse(self, names: str, by: str) -> None:
        keys = by.split()
        self.cases = [
            {key: some[0][key] for key in keys}
            | {name: math.fsum(case[name] for case in some) for name in names.split()}
            for some in self._by(keys)
        ]

    def post(self, texts: str, names: str) -> None:
        for case in self.cases:
            cells = [*re.findall(r'\("([^"]*)"\)', texts)]
            cells += [case[name] for name in re.findall(r"\((\w+)\[`i'\]\)", names)]
            self.posted.append(dict(zip(self.columns, cells, strict=True)))

    def drop_if(self, condition: str) -> None:
        wanted = _compiled(condition)
        self.cases = [case for case in self.cases if not wanted(case)]

    def drop(self, names: str) -> None:
        for case in self.cases:
            for name in names.split():
                del case[name]

    def nothing(self) -> None:
        pass

    commands: dict[str, Callable[..., None]] = {
        r"postfile `results' (.*) using `file'": postfile,
        r'use (.*) using "reports.dta", clear': use,
        r"use `file', clear": use_posted,
        r"generate (?:\w+ )(\w+) = (.*)": generate,
        r"replace (\w+) = (.*?)(?: if (.*))?": replace,
        r"expand (\d+)": expand,
        r"bysort (\w+): generate long (\w+) = _n - 1": number_by,
        r"bysort (\w+): egen double (\w+) = total\((\w+)\)": total_by,
        r"collapse \(sum\) (.*), by\((.*)\)": collapse,
        r"local last = _N|forvalues i = 1/`last' \{|\}": nothing,
        r'post `results\' ((?:\("[^"]*"\) ?)+)(.*)': post,
        r"drop if (.*)": drop_if,
        r"drop (.*)": drop,
    }
