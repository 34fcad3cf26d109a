"""How to cite a release: as a sentence and as BibTeX."""

from aggregation.models import Release


def sentence(release: Release, address: str) -> str:
    """Return the sentence for a release that can be found at this address."""
    survey = release.survey
    return (
        f"{survey.title}. Release {release.number} of {release.made_at:%-d %B %Y}, "
        f"{release.reports:,} reports under local differential privacy "
        f"(ε = {survey.epsilon:g} for the sensitive answers, "
        f"{survey.frozen_design().report_epsilon:g} for a whole report), made with Candor. "
        f"Design {survey.design_hash}. {address}"
    )


def bibtex(release: Release, address: str) -> str:
    survey = release.survey
    members = {
        "title": f"{{{{{survey.title.translate(LATEX)}}}}}",
        "year": f"{{{release.made_at:%Y}}}",
        "month": f"{release.made_at:%b}".lower(),
        "howpublished": "{Survey with local differential privacy, made with Candor}",
        "note": f"{{Release {release.number} of {release.made_at:%Y-%m-%d}, "
        f"{release.reports} reports, design {survey.design_hash}}}",
        "url": f"{{{address}}}",
    }
    lines = [f"  {name} = {value}" for name, value in members.items()]
    return f"@misc{{{survey.slug}-release-{release.number},\n" + ",\n".join(lines) + "\n}\n"


LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "\\": "\\textbackslash{}"}
    | {"\n": " ", "\t": " "}
)
