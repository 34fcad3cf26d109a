import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models

from survey.database import triggers


def keep_outside(apps, schema_editor):
    """Random bits are not worth compressing, and are never read in part."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "ALTER TABLE aggregation_batch ALTER COLUMN columns SET STORAGE EXTERNAL"
        )


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('survey', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('reports', models.PositiveIntegerField()),
                ('final', models.BooleanField()),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('tally', models.JSONField()),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='survey.survey')),
            ],
            options={
                'ordering': ['survey', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('name', models.CharField(max_length=50, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Estimate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('question', models.CharField(max_length=50)),
                ('measure', models.CharField(max_length=20)),
                ('option', models.CharField(blank=True, max_length=250)),
                ('by', models.CharField(blank=True, max_length=50)),
                ('group', models.CharField(blank=True, max_length=250)),
                ('n', models.PositiveIntegerField()),
                ('count', models.PositiveIntegerField()),
                ('value', models.FloatField(null=True)),
                ('bounded', models.FloatField(null=True)),
                ('standard_error', models.FloatField(null=True)),
                ('sampling_error', models.FloatField(null=True)),
                ('privacy_error', models.FloatField(null=True)),
                ('misfit', models.FloatField(null=True)),
                ('level', models.FloatField()),
                ('low_once', models.FloatField()),
                ('high_once', models.FloatField()),
                ('method_once', models.CharField(max_length=50)),
                ('low_always', models.FloatField()),
                ('high_always', models.FloatField()),
                ('method_always', models.CharField(max_length=50)),
                ('always', models.BooleanField()),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='estimates', to='aggregation.release')),
            ],
            options={
                'ordering': ['position'],
            },
        ),
        migrations.CreateModel(
            name='Copy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=50)),
                ('address', models.CharField(max_length=500)),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='copies', to='aggregation.release')),
            ],
            options={
                'verbose_name_plural': 'copies',
            },
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reports', models.PositiveIntegerField()),
                ('made_on', models.DateField()),
                ('tally', models.JSONField()),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='batches', to='survey.survey')),
                ('release', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='aggregation.release')),
                # Last in the table: see aggregation/models/.
                ('columns', models.BinaryField()),
            ],
            options={
                'verbose_name_plural': 'batches',
            },
        ),
        migrations.CreateModel(
            name='Analysis',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('asked', models.JSONField()),
                ('digest', models.CharField(max_length=64)),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='analyses', to='aggregation.release')),
            ],
            options={
                'verbose_name_plural': 'analyses',
            },
        ),
        migrations.CreateModel(
            name='Part',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('batches', models.JSONField()),
                ('counts', models.BinaryField(null=True)),
                ('analysis', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='aggregation.analysis')),
            ],
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=9)),
                ('active', models.BooleanField(default=True)),
                ('progress', models.FloatField(default=0)),
                ('result', models.JSONField(null=True)),
                ('error', models.TextField(blank=True)),
                ('attempt', models.PositiveSmallIntegerField(default=0)),
                ('lease', models.DateTimeField(default=django.utils.timezone.now)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('analysis', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='aggregation.analysis')),
                ('copy', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='aggregation.copy')),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='survey.survey')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('active', True), ('analysis__isnull', True), ('copy__isnull', True)), fields=('survey',), name='job_one_at_a_time'), models.UniqueConstraint(condition=models.Q(('active', True)), fields=('analysis',), name='job_one_an_analysis'), models.UniqueConstraint(condition=models.Q(('active', True)), fields=('copy',), name='job_one_a_copy')],
            },
        ),
        migrations.AddConstraint(
            model_name='release',
            constraint=models.UniqueConstraint(fields=('survey', 'number'), name='release_number'),
        ),
        migrations.AddConstraint(
            model_name='estimate',
            constraint=models.UniqueConstraint(fields=('release', 'position'), name='estimate_position'),
        ),
        migrations.AddConstraint(
            model_name='copy',
            constraint=models.UniqueConstraint(fields=('release', 'name'), name='copy_once_a_release'),
        ),
        migrations.AddConstraint(
            model_name='analysis',
            constraint=models.UniqueConstraint(fields=('release', 'digest'), name='analysis_once_a_release'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('active', True)), fields=['lease'], name='job_active'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('state', 'failed')), fields=['survey', 'made_at'], name='job_failed'),
        ),
        migrations.RunPython(keep_outside),
        migrations.RunPython(lambda apps, schema_editor: triggers.install("aggregation", schema_editor)),
    ]
