from django.db import migrations

from survey import triggers


class Migration(migrations.Migration):
    """A trigger more: the day of the closing, by which everything is deleted, is not put off."""

    dependencies = [("survey", "0015_mailed_on")]

    operations = [
        migrations.RunPython(
            lambda apps, schema_editor: triggers.install(schema_editor),
            migrations.RunPython.noop,
        )
    ]
