from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('survey', '0005_removed'),
    ]

    operations = [
        migrations.AddField(
            model_name='survey',
            name='ids_removed_on',
            field=models.DateField(editable=False, null=True),
        ),
    ]
