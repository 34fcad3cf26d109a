"""What people fill in, with the words for what is wrong."""

from typing import Any, cast

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.forms import PasswordChangeForm, UserCreationForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from survey.models import Role, Survey, Team

# In the words of a page; AUTH_PASSWORD_VALIDATORS is what holds.
RULES = (
    "At least 12 characters, not much like your name or address, and none of the passwords that "
    "many people use. Four or five words in a row are easy to remember."
)
SECRET = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class AccountForm(UserCreationForm):
    """A new account."""

    class Meta:
        model = User
        fields = ["username", "email"]
        labels = {"username": "Name", "email": "E-mail address, if you like"}
        help_texts = {"username": "You log in with it. Letters, digits and @ . + - _"}
        error_messages = {
            "username": {"invalid": "Letters, digits and @ . + - _ only; no spaces between them."}
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].widget.attrs.update(
            autocapitalize="none", autocomplete="username", autofocus=False
        )
        self.fields["email"].widget.attrs["autocomplete"] = "email"
        self.fields["password1"].help_text = RULES
        self.fields["password2"].label = "Password again"
        self.fields["password2"].help_text = ""

    def validate_password_for_user(self, user: User, **kwargs: Any) -> None:
        """What is wrong with a password stands at the password, not at its repetition."""
        super().validate_password_for_user(user, "password1")  # type: ignore[misc]


class SetUpForm(AccountForm):
    code = forms.CharField(
        label="Set-up code",
        max_length=60,
        help_text="The server wrote it where it was started; manage.py setup_code makes a new one.",
        widget=forms.TextInput(attrs=SECRET),
    )
    field_order = ["code", "username", "email", "password1", "password2"]


class EmailForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ["email"]
        labels = {"email": "Address"}
        help_texts = {"email": "For people who run this site. It may stay empty."}


class PasswordForm(PasswordChangeForm):
    def __init__(self, request: HttpRequest, *args: Any) -> None:
        super().__init__(cast(User, request.user), *args)
        self.request = request
        self.fields["old_password"].label = "Password until now"
        self.fields["old_password"].widget.attrs["autofocus"] = False
        self.fields["new_password1"].help_text = RULES
        self.fields["new_password2"].label = "New password again"

    def clean_old_password(self) -> str:
        """Through the backend, which counts: whoever holds a session may not guess either."""
        given: str = self.cleaned_data["old_password"]
        if authenticate(self.request, username=self.user.username, password=given) != self.user:
            raise ValidationError("That is not your password. After many tries, wait a minute.")
        return given


class CodeForm(forms.Form):
    code = forms.CharField(
        label="Code",
        max_length=60,
        widget=forms.TextInput(attrs=SECRET | {"autocomplete": "one-time-code"}),
        error_messages={"required": "Give the code."},
    )


class AgainForm(forms.Form):
    """Who is there; with a code, of those who have a second factor."""

    password = forms.CharField(
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        error_messages={"required": "Give your password."},
    )
    code = CodeForm.base_fields["code"]

    def __init__(self, *args: Any, factor: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not factor:
            del self.fields["code"]


class InviteForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices, error_messages={"required": "Choose a role."})
    email = forms.EmailField(
        required=False,
        max_length=254,
        error_messages={"invalid": "That is no e-mail address. Leave it empty for a link."},
    )


class TeamForm(forms.ModelForm):
    class Meta:
        model = Team
        fields = ["name"]
        error_messages = {"name": {"required": "Give the team a name."}}


class SurveyTeamForm(forms.Form):
    """Which team a survey belongs to; of the teams in which one works oneself."""

    team = forms.ModelChoiceField(Team.objects.none(), required=False, empty_label="No team")

    def __init__(self, *args: Any, survey: Survey, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.survey = survey
        own, now = Team.objects.where_may(user, "ask"), Team.objects.filter(surveys=survey)
        self.fields["team"].queryset = (own | now).distinct()  # type: ignore[attr-defined]

    def clean_team(self) -> Team | None:
        team: Team | None = self.cleaned_data["team"]
        owners = self.survey.membership_set.filter(role=Role.OWNER)
        if team is None and not owners.exists():
            raise ValidationError("Make somebody an owner of the survey itself first.")
        return team
