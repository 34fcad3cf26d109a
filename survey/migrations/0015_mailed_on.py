from datetime import UTC, datetime

from django.db import migrations, models


def today(apps, schema_editor):
    """The day of a letter that was sent before is not known: it is as if it were today."""
    sent = apps.get_model('survey', 'Invitation').objects.filter(mailed=True, used_with='')
    sent.update(mailed_on=datetime.now(UTC).date())


def back(apps, schema_editor):
    sent = apps.get_model('survey', 'Invitation').objects.exclude(mailed_on=None)
    sent.update(mailed=True)


class Migration(migrations.Migration):

    dependencies = [
        ('survey', '0014_drafts'),
    ]

    operations = [
        migrations.AddField(
            model_name='invitation',
            name='mailed_on',
            field=models.DateField(null=True),
        ),
        migrations.RunPython(today, back),
        migrations.RemoveField(
            model_name='invitation',
            name='mailed',
        ),
    ]
