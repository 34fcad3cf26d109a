from django.db import migrations, models

from survey import triggers


class Migration(migrations.Migration):

    dependencies = [
        ('survey', '0011_access'),
    ]

    operations = [
        migrations.CreateModel(
            name='Entry',
            fields=[
                ('number', models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                ('time', models.DateTimeField()),
                ('actor', models.CharField(blank=True, max_length=150)),
                ('actor_number', models.BigIntegerField(null=True)),
                ('what', models.CharField(max_length=50)),
                ('survey', models.CharField(blank=True, max_length=50)),
                ('survey_number', models.BigIntegerField(db_index=True, null=True)),
                ('detail', models.TextField(default='{}')),
                ('previous', models.CharField(max_length=64)),
                ('hash', models.CharField(max_length=64, unique=True)),
            ],
            options={
                'verbose_name_plural': 'entries',
                'ordering': ['-number'],
            },
        ),
        migrations.RunPython(lambda apps, schema_editor: triggers.install_log(schema_editor)),
    ]
