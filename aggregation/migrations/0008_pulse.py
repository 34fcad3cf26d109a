from django.db import migrations, models


class Migration(migrations.Migration):
    """When a worker last came by."""

    dependencies = [('aggregation', '0007_copies')]

    operations = [
        migrations.CreateModel(
            name='Pulse',
            fields=[
                ('name', models.CharField(max_length=50, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
            ],
        ),
    ]
