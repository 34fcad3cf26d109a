"""What makes a kind of analysis. Each kind is a folder, and registry.py lists them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aggregation.analyses.base import Analysis
from aggregation.analyses.findings import Findings
from aggregation.analyses.form import Form
from survey.design import Design
from survey.spreadsheets import Line


@dataclass(frozen=True)
class Kind:
    title: str
    introduction: str
    describe: Callable[[Mapping[str, Any], Design], str]  # what was asked, in words
    analysis: type[Analysis]
    members: Mapping[str, Any]  # of a request, besides its kind, as JSON Schema
    form: type[Form]
    form_template: str
    findings: type[Findings]
    findings_template: str
    # CSV files to fill in for the form, by name.
    blank_files: Mapping[str, Callable[[Design], Iterator[Line]]] = field(default_factory=dict)
