import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from survey.database import triggers


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Survey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(unique=True)),
                ('title', models.CharField(max_length=200)),
                ('introduction', models.TextField(blank=True)),
                ('asked_by', models.CharField(blank=True, help_text='A name that respondents know.', max_length=200, verbose_name='who is asking')),
                ('purpose', models.TextField(blank=True, help_text='The purpose, and what will happen with the results.', verbose_name='why')),
                ('contact', models.CharField(blank=True, help_text='Where respondents can send questions.', max_length=200)),
                ('expected', models.PositiveIntegerField(blank=True, help_text='Used for the check before opening. Respondents do not see it.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000000)], verbose_name='expected number of people')),
                ('retention_days', models.PositiveIntegerField(blank=True, help_text='Everything is deleted automatically this many days after the survey closes. Respondents are told, so it cannot change later. If empty, it is kept until deleted.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(36500)], verbose_name='days until deletion')),
                ('language', models.CharField(default='en', help_text='The language tag of these texts, such as en, pt-BR or zh-Hant.', max_length=35, validators=[django.core.validators.RegexValidator('\\A[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*\\Z', 'Use a language tag, such as en, pt-BR or zh-Hant.')])),
                ('translations', models.JSONField(blank=True, default=dict)),
                ('epsilon', models.FloatField(help_text='For all sensitive answers of one person; each background answer has its own. A smaller ε protects better but needs more people: 1 is strong, 2 usual, 3 weak.', validators=[django.core.validators.MinValueValidator(1e-09, 'Enter a number above 0.')], verbose_name='ε of the sensitive answers')),
                ('ask', models.PositiveSmallIntegerField(blank=True, help_text='Blocks that one person is asked. If empty, the number with the smallest error.', null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='blocks asked')),
                ('blocks', models.JSONField(blank=True, default=list)),
                ('shuffled', models.BooleanField(default=False, verbose_name='questions in random order')),
                ('fillers', models.BooleanField(default=False, verbose_name='neutral questions instead of follow-ups')),
                ('population', models.PositiveIntegerField(blank=True, help_text='If it is known, such as all staff. Used for totals and narrower intervals.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000000)], verbose_name='number of people in all')),
                ('crowd', models.PositiveIntegerField(default=20, help_text='Reports are counted, and estimates change, only in groups of at least this.', validators=[django.core.validators.MinValueValidator(2), django.core.validators.MaxValueValidator(1000000)])),
                ('access', models.CharField(choices=[('open', 'Open: anyone with the address'), ('invited', 'Invited: one report per invitation')], default='open', help_text='An open survey cannot stop people from sending many reports. Invitations are created once it is open; nothing stored links an invitation to a report.', max_length=7)),
                ('work', models.PositiveSmallIntegerField(default=0, help_text='For an open survey: bits of work for each report, 0 to 22. 16 takes a phone a few seconds; each further bit doubles that. It only slows forgeries down.', validators=[django.core.validators.MaxValueValidator(22)], verbose_name='proof of work')),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('open', 'Open'), ('closed', 'Closed')], default='draft', editable=False, max_length=6)),
                ('design', models.TextField(blank=True, editable=False)),
                ('design_hash', models.CharField(blank=True, editable=False, max_length=71)),
                ('opened_on', models.DateField(editable=False, null=True)),
                ('closed_on', models.DateField(editable=False, null=True)),
                ('ids_removed_on', models.DateField(editable=False, null=True)),
                ('due_on', models.DateField(editable=False, null=True)),
                ('invited', models.PositiveIntegerField(default=0, editable=False)),
                ('fetched', models.PositiveIntegerField(default=0, editable=False)),
                ('opens_at', models.DateTimeField(editable=False, null=True)),
                ('approved_hash', models.CharField(blank=True, editable=False, max_length=64)),
                ('opens_refused', models.TextField(blank=True, editable=False)),
                ('closes_at', models.DateTimeField(editable=False, null=True)),
                ('archived_on', models.DateField(editable=False, null=True)),
                ('delete_asked_on', models.DateField(editable=False, null=True)),
                ('results_public', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['slug'],
            },
        ),
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
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('researcher', 'Researcher'), ('owner', 'Owner')], default='researcher', max_length=10)),
            ],
        ),
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
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
            ],
            options={
                'ordering': ['name', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('label', models.CharField(blank=True, max_length=100)),
                ('made_on', models.DateField(editable=False)),
                ('used_on', models.DateField(editable=False, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('survey', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='editing', serialize=False, to='survey.survey')),
                ('number', models.PositiveIntegerField(default=1)),
                ('place', models.PositiveIntegerField(default=0)),
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
            name='researchers',
            field=models.ManyToManyField(related_name='surveys', through='survey.Membership', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='membership',
            name='survey',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='survey.survey'),
        ),
        migrations.AddField(
            model_name='membership',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL),
        ),
        migrations.CreateModel(
            name='Question',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('key', models.CharField(max_length=50, validators=[django.core.validators.RegexValidator('\\A[A-Za-z0-9][A-Za-z0-9_-]{0,49}\\Z', 'Use 1 to 50 letters, digits, hyphens or underscores.')])),
                ('text', models.TextField()),
                ('kind', models.CharField(default='yes_no', max_length=10)),
                ('options', models.JSONField(blank=True, default=list, help_text='For a choice: one per line.')),
                ('details', models.JSONField(blank=True, default=dict)),
                ('only_if', models.JSONField(blank=True, null=True)),
                ('shuffled', models.BooleanField(default=False, help_text='Each device shows the options in an order of its own.', verbose_name='options in random order')),
                ('prefer_not_to_say', models.BooleanField(default=False, help_text='Adds “Prefer not to say”, randomized like the other options.', verbose_name='may be declined')),
                ('background', models.BooleanField(default=False)),
                ('epsilon', models.FloatField(blank=True, help_text='For a background question: the privacy cost of its answer. 3 if empty.', null=True, validators=[django.core.validators.MinValueValidator(1e-09, 'Enter a number above 0.')], verbose_name='ε')),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='survey.survey')),
            ],
            options={
                'ordering': ['background', 'position', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('content', models.BinaryField(null=True)),
                ('survey', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='survey.survey')),
            ],
        ),
        migrations.AddField(
            model_name='survey',
            name='team',
            field=models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='surveys', to='survey.team'),
        ),
        migrations.CreateModel(
            name='TeamMembership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('researcher', 'Researcher'), ('owner', 'Owner')], max_length=10)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='survey.team')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
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
                ('saved_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('draft', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='survey.draft')),
            ],
            options={
                'ordering': ['place'],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('digest', models.CharField(editable=False, max_length=64, primary_key=True, serialize=False)),
                ('used_with', models.CharField(blank=True, editable=False, max_length=64)),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('mailed_on', models.DateField(null=True)),
                ('person', models.CharField(blank=True, editable=False, max_length=64)),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='survey.survey')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('person', ''), _negated=True), fields=('survey', 'person'), name='invitation_once_a_person')],
            },
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('survey', 'user'), name='researcher_once'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['viewer', 'researcher', 'owner'])), name='membership_role'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.UniqueConstraint(fields=('survey', 'key'), name='question_key_once_a_survey'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('background', False), ('epsilon__isnull', True)), models.Q(('background', True), ('kind', 'choice'), ('only_if__isnull', True), ('prefer_not_to_say', True)), _connector='OR'), name='question_background'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(condition=models.Q(('content__isnull', False)), fields=['survey'], name='report_inbox'),
        ),
        migrations.AddIndex(
            model_name='survey',
            index=models.Index(fields=['state', 'due_on'], name='survey_due'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('state', 'draft'), models.Q(('design', ''), _negated=True), _connector='OR'), name='survey_open_has_design'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['draft', 'open', 'closed'])), name='survey_state'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('crowd__gte', 2)), name='survey_crowd'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('access', 'open'), models.Q(('access', 'invited'), ('work', 0)), _connector='OR'), name='survey_access'),
        ),
        migrations.AddConstraint(
            model_name='survey',
            constraint=models.CheckConstraint(condition=models.Q(('state', 'closed'), models.Q(('archived_on__isnull', True), ('delete_asked_on__isnull', True)), _connector='OR'), name='survey_over'),
        ),
        migrations.AddConstraint(
            model_name='teammembership',
            constraint=models.UniqueConstraint(fields=('team', 'user'), name='team_member_once'),
        ),
        migrations.AddConstraint(
            model_name='teammembership',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['viewer', 'researcher', 'owner'])), name='team_role'),
        ),
        migrations.AddConstraint(
            model_name='draftrevision',
            constraint=models.UniqueConstraint(fields=('draft', 'place'), name='revision_once_a_place'),
        ),
        migrations.RunPython(lambda apps, schema_editor: triggers.install("survey", schema_editor)),
    ]
