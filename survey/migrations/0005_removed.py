from django.db import migrations, models

from survey import triggers


class Migration(migrations.Migration):

    dependencies = [
        ('survey', '0004_triggers'),
    ]

    operations = [
        migrations.CreateModel(
            name='Removed',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('slug', models.SlugField(unique=True)),
                ('title', models.CharField(max_length=200)),
                ('design_hash', models.CharField(max_length=71)),
                ('reports', models.PositiveBigIntegerField()),
                ('archive', models.CharField(max_length=64, verbose_name='SHA-256 of the archive')),
                ('removed_on', models.DateField()),
            ],
            options={
                'verbose_name': 'removed survey',
                'ordering': ['slug'],
            },
        ),
        migrations.RunPython(lambda apps, schema_editor: triggers.install(schema_editor)),
    ]
