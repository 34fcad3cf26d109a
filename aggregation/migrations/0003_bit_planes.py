import numpy as np
from django.db import migrations, models

from aggregation import batches
from survey.design import Design


def pack(apps, schema_editor):
    """From a byte a value, one column after the other, to bit planes."""
    Batch = apps.get_model("aggregation", "Batch")
    for pk in Batch.objects.order_by("pk").values_list("pk", flat=True):
        batch = Batch.objects.select_related("survey").get(pk=pk)
        columns = np.frombuffer(bytes(batch.columns), dtype=np.uint8).reshape(-1, batch.reports)
        design = Design.from_json(batch.survey.design)
        Batch.objects.filter(pk=pk).update(packed=batches.pack(columns.T, design))


def publish(apps, schema_editor):
    """The batches of each survey are those of its last release, unless some wait for the next."""
    Batch, Release = (apps.get_model("aggregation", name) for name in ("Batch", "Release"))
    for release in Release.objects.order_by("survey", "number"):
        held = Batch.objects.filter(survey=release.survey)
        if held.aggregate(reports=models.Sum("reports"))["reports"] == release.reports:
            held.update(release=release)


def outside(apps, schema_editor):
    """Random bits are not worth compressing, and are never read in part."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "ALTER TABLE aggregation_batch ALTER COLUMN columns SET STORAGE EXTERNAL"
        )


# No way back. The new column comes last in the table, which is why it is not the old one changed.
class Migration(migrations.Migration):
    dependencies = [("aggregation", "0002_triggers"), ("survey", "0004_triggers")]

    operations = [
        migrations.RemoveConstraint(model_name="batch", name="batch_number"),
        migrations.RemoveField(model_name="batch", name="number"),
        migrations.AddField(
            model_name="batch",
            name="release",
            field=models.ForeignKey(
                null=True,
                on_delete=models.PROTECT,
                related_name="+",
                to="aggregation.release",
            ),
        ),
        migrations.AddField(
            model_name="batch",
            name="packed",
            field=models.BinaryField(default=b""),
            preserve_default=False,
        ),
        migrations.RunPython(pack),
        migrations.RunPython(publish),
        migrations.RemoveField(model_name="batch", name="columns"),
        migrations.RenameField(model_name="batch", old_name="packed", new_name="columns"),
        migrations.RunPython(outside),
    ]
