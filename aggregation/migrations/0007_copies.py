import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Large files of a release, which a job makes."""

    dependencies = [('aggregation', '0006_overlaps')]

    operations = [
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
                'constraints': [models.UniqueConstraint(fields=('release', 'name'), name='copy_once_a_release')],
            },
        ),
        migrations.AddField(
            model_name='job',
            name='copy',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='aggregation.copy'),
        ),
        migrations.RemoveConstraint(
            model_name='job',
            name='job_one_at_a_time',
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(condition=models.Q(('active', True), ('analysis__isnull', True), ('copy__isnull', True)), fields=('survey',), name='job_one_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(condition=models.Q(('active', True)), fields=('copy',), name='job_one_a_copy'),
        ),
    ]
