from django.db import migrations

from survey import triggers


class Migration(migrations.Migration):
    """A trigger more, against UPDATE OR REPLACE on a connection that is not Django's."""

    dependencies = [("survey", "0003_translations")]

    operations = [
        migrations.RunPython(
            lambda apps, schema_editor: triggers.install(schema_editor, tombstones=False),
            migrations.RunPython.noop,
        )
    ]
