"""Profiles: latent classes of the answers to several questions."""

from aggregation.analyses.kind import Kind
from aggregation.analyses.profiles.computation import MEMBERS, Profiles
from aggregation.analyses.profiles.form import ProfilesForm
from aggregation.analyses.profiles.wording import ProfilesFindings, describe

KIND = Kind(
    title="Profiles",
    introduction="Which kinds of people there may be, by what they answer to several questions.",
    describe=describe,
    analysis=Profiles,
    members=MEMBERS,
    form=ProfilesForm,
    form_template="aggregation/analyses/profiles/form.html",
    findings=ProfilesFindings,
    findings_template="aggregation/analyses/profiles/result.html",
)
