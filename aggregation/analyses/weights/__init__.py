"""Weights: shares as they would be if the respondents were made up like the population."""

from aggregation.analyses.kind import Kind
from aggregation.analyses.weights.computation import MEMBERS, Weights
from aggregation.analyses.weights.form import WeightsForm
from aggregation.analyses.weights.margins import template
from aggregation.analyses.weights.wording import WeightsFindings, describe

KIND = Kind(
    title="Weights",
    introduction=(
        "What the shares would be if those who answered were made up like the population."
    ),
    describe=describe,
    analysis=Weights,
    members=MEMBERS,
    form=WeightsForm,
    form_template="aggregation/analyses/weights/form.html",
    findings=WeightsFindings,
    findings_template="aggregation/analyses/weights/result.html",
    blank_files={"margins": template},
)
