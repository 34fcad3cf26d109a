import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

from survey import triggers


class Migration(migrations.Migration):

    dependencies = [
        ('survey', '0010_life'),
    ]

    operations = [
        migrations.RunPython(lambda apps, schema_editor: triggers.remove(schema_editor)),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('digest', models.CharField(editable=False, max_length=64, primary_key=True, serialize=False)),
                ('used_with', models.CharField(blank=True, editable=False, max_length=64)),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('mailed', models.BooleanField(default=False)),
                ('person', models.CharField(blank=True, editable=False, max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name='PassKey',
            fields=[
                ('survey', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='pass_key', serialize=False, to='survey.survey')),
                ('private', models.BinaryField()),
            ],
        ),
        migrations.AddField(
            model_name='survey',
            name='access',
            field=models.CharField(choices=[('open', 'Open: anyone who has the address'), ('invited', 'Invited: one report for each invitation')], default='open', help_text='An open survey is not safe from people who send many reports. Invitations are made once it is open; nothing that is stored connects an invitation with a report.', max_length=7),
        ),
        migrations.AddField(
            model_name='survey',
            name='fetched',
            field=models.PositiveIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='survey',
            name='invited',
            field=models.PositiveIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name='survey',
            name='work',
            field=models.PositiveSmallIntegerField(default=0, help_text='Of an open survey: how many bits of work a browser does for each report, 0 to 22. 16 takes a phone a few seconds, each bit more twice as long. It makes forging many reports slower, not impossible.', validators=[django.core.validators.MaxValueValidator(22)], verbose_name='proof of work'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('access', 'open'), models.Q(('access', 'invited'), ('work', 0)), _connector='OR'), name='survey_access'),
        ),
        migrations.AddField(
            model_name='invitation',
            name='survey',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='survey.survey'),
        ),
        migrations.AddConstraint(
            model_name='invitation',
            constraint=models.UniqueConstraint(condition=models.Q(('person', ''), _negated=True), fields=('survey', 'person'), name='invitation_once_a_person'),
        ),
        migrations.RunPython(lambda apps, schema_editor: triggers.install(schema_editor)),
    ]
