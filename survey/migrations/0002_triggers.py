from django.db import migrations

from survey import triggers


class Migration(migrations.Migration):
    dependencies = [("survey", "0001_initial")]

    operations = [
        migrations.RunPython(
            lambda apps, schema_editor: triggers.install(schema_editor),
            migrations.RunPython.noop,
        )
    ]
