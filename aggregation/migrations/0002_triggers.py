from django.db import migrations

from aggregation import triggers


class Migration(migrations.Migration):
    dependencies = [("aggregation", "0001_initial")]

    operations = [
        migrations.RunPython(
            lambda apps, schema_editor: triggers.install(schema_editor, tombstones=False),
            migrations.RunPython.noop,
        )
    ]
