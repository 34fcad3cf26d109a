from django.db import migrations

from survey import triggers

FROZEN = "id slug title introduction epsilon ask crowd design design_hash opened_on".split()


class Migration(migrations.Migration):
    dependencies = [("survey", "0001_initial")]

    operations = [
        migrations.RunPython(
            lambda apps, schema_editor: triggers.install(schema_editor, FROZEN, tombstones=False),
            migrations.RunPython.noop,
        )
    ]
