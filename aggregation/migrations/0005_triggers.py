from django.db import migrations

from aggregation import triggers


class Migration(migrations.Migration):
    """What was published leaves with a survey that is removed, and in no other way."""

    dependencies = [("aggregation", "0004_analyses"), ("survey", "0005_removed")]

    operations = [
        migrations.RunPython(lambda apps, schema_editor: triggers.install(schema_editor)),
    ]
