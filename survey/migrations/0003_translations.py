import django.core.validators
from django.db import migrations, models

from survey import triggers


# No way back: the triggers of before would have to be installed after the columns are gone.
class Migration(migrations.Migration):
    dependencies = [("survey", "0002_triggers")]

    operations = [
        migrations.RunPython(lambda apps, schema_editor: triggers.remove(schema_editor)),
        migrations.AddField(
            model_name='survey',
            name='language',
            field=models.CharField(default='en', help_text='The language tag of the texts here, such as en, pt-BR or zh-Hant.', max_length=35, validators=[django.core.validators.RegexValidator('\\A[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*\\Z', 'Use a language tag, such as en, pt-BR or zh-Hant.')]),
        ),
        migrations.AddField(
            model_name='survey',
            name='translations',
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.RunPython(
            lambda apps, schema_editor: triggers.install(schema_editor, tombstones=False)
        ),
    ]
