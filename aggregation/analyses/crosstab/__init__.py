"""Tables: the joint shares of two to four questions."""

from aggregation.analyses.crosstab.computation import MEMBERS, Crosstab
from aggregation.analyses.crosstab.form import CrosstabForm
from aggregation.analyses.crosstab.wording import CrosstabFindings, describe
from aggregation.analyses.kind import Kind

KIND = Kind(
    title="Table",
    introduction=("How two to four answers go together: the share of people in every combination."),
    describe=describe,
    analysis=Crosstab,
    members=MEMBERS,
    form=CrosstabForm,
    form_template="aggregation/analyses/crosstab/form.html",
    findings=CrosstabFindings,
    findings_template="aggregation/analyses/crosstab/result.html",
)
