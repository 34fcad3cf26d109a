import django.db.models.deletion
import numpy as np
from django.db import migrations, models

from aggregation import analyses, batches, gate, overlaps
from survey.design import Design


def remember(apps, schema_editor):
    """What the gate would know of the last release of each survey, had it looked.

    Which release counted a batch first was not kept when batches were merged; the first of all is
    the careful guess, because then nothing seems to have grown that may not have. Older releases
    are not known, and what comes later is compared with them by growth alone.
    """
    names = ("Release", "Batch", "Estimate", "Analysis", "Overlap")
    Release, Batch, Estimate, Analysis, Overlap = (
        apps.get_model("aggregation", name) for name in names
    )
    for last in Release.objects.filter(number=1).select_related("survey"):
        survey, first = last.survey, last
        last = Release.objects.filter(survey=survey).order_by("number").last()
        held = Batch.objects.filter(survey=survey, release__isnull=False)
        held.update(release=first)
        design = Design.from_json(survey.design)
        parts = held.values_list("columns", "reports").iterator(chunk_size=8)
        Overlap.objects.create(
            release=last,
            shown=shown(design, Estimate.objects.filter(release=last, as_of=last.number)),
            counts=overlaps.packed(batches.overlaps(parts, design)),
        )
    for analysis in Analysis.objects.filter(sizes__isnull=False).select_related("release__survey"):
        survey = analysis.release.survey
        sizes = divided(analysis, Design.from_json(survey.design))
        found = [sorted(gate.shown(one, survey.crowd)) for one in sizes]
        Analysis.objects.filter(pk=analysis.pk).update(sizes=sizes, shown=found)


def divided(analysis, design):
    """The sizes of groups, of all strata together until now, by division."""
    question = analyses.read(analysis.asked, design)
    strata = [key for kind, key in question.axes(design) if kind == "stratum"]
    options = {stratum.key: stratum.size + 1 for stratum in design.strata}
    sizes = np.array(analysis.sizes).reshape([options[key] for key in strata])
    return [
        sizes.sum(axis=tuple(i for i, key in enumerate(strata) if key not in division))
        .ravel()
        .tolist()
        for division in question.divisions()
    ]


def shown(design, rows):
    """By set of reports and stratum, the groups shown in these estimates."""
    found = {}
    for name, question in batches.asked_sets(design).items():
        tables = {}
        for row in rows.filter(question=question).order_by("position"):
            tables.setdefault(row.stratum, {})[row.group] = row.n is not None
        found[name] = {
            stratum: [i for i, visible in enumerate(groups.values()) if visible]
            for stratum, groups in tables.items()
            if stratum in batches.spans(design)
        }
    return found


class Migration(migrations.Migration):
    dependencies = [("aggregation", "0005_triggers")]

    operations = [
        migrations.AddField("analysis", "overlaps", models.JSONField(null=True)),
        migrations.AddField("analysis", "shown", models.JSONField(null=True)),
        migrations.CreateModel(
            name="Overlap",
            fields=[
                (
                    "release",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="overlap",
                        serialize=False,
                        to="aggregation.release",
                    ),
                ),
                ("shown", models.JSONField()),
                ("counts", models.BinaryField()),
            ],
        ),
        migrations.RunPython(remember, migrations.RunPython.noop),
    ]
