"""Regression: the log-odds of one answer by the answers to other questions."""

from aggregation.analyses.kind import Kind
from aggregation.analyses.regression.computation import MEMBERS, Regression
from aggregation.analyses.regression.form import RegressionForm
from aggregation.analyses.regression.wording import RegressionFindings, describe

KIND = Kind(
    title="Regression",
    introduction="What the odds of an answer have to do with groups, and with other answers.",
    describe=describe,
    analysis=Regression,
    members=MEMBERS,
    form=RegressionForm,
    form_template="aggregation/analyses/regression/form.html",
    findings=RegressionFindings,
    findings_template="aggregation/analyses/regression/result.html",
)
