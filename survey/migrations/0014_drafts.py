import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('survey', '0013_teams'),
    ]

    operations = [
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('survey', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='editing', serialize=False, to='survey.survey')),
                ('number', models.PositiveIntegerField(default=1)),
                ('place', models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='DraftRevision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.PositiveIntegerField()),
                ('document', models.JSONField()),
                ('step', models.CharField(blank=True, max_length=100)),
                ('saved_on', models.DateField()),
                ('draft', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='survey.draft')),
                ('saved_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['place'],
                'constraints': [models.UniqueConstraint(fields=('draft', 'place'), name='revision_once_a_place')],
            },
        ),
    ]
