"""The forms for accounts, invitations and teams."""

from typing import Any, cast

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.forms import PasswordChangeForm, UserCreationForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from survey.models import Role, Survey, Team

# For people; AUTH_PASSWORD_VALIDATORS enforces it.
RULES = (
    "At least 12 characters, not similar to your name or address, and not a common password. Four "
    "or five words in a row are easy to remember."
)
SECRET = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class AccountForm(UserCreationForm):
    """A new account."""

    class Meta:
        model = User
        fields = ["username", "email"]
        labels = {"username": "Name", "email": "E-mail address (optional)"}
        help_texts = {"username": "You log in with this name. Use letters, digits and @ . + - _"}
        error_messages = {
            "username": {"invalid": "Use only letters, digits and @ . + - _, without spaces."}
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
        """Show password errors at the password, not at its repetition."""
        super().validate_password_for_user(user, "password1")  # type: ignore[misc]


class SetUpForm(AccountForm):
    code = forms.CharField(
        label="Set-up code",
        max_length=60,
        help_text="The server printed it when it started. manage.py setup_code prints a new one.",
        widget=forms.TextInput(attrs=SECRET),
    )
    field_order = ["code", "username", "email", "password1", "password2"]


class EmailForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ["email"]
        labels = {"email": "Address"}
        help_texts = {"email": "Optional. Lets the people who run this site contact you."}


class PasswordForm(PasswordChangeForm):
    def __init__(self, request: HttpRequest, *args: Any) -> None:
        super().__init__(cast(User, request.user), *args)
        self.request = request
        self.fields["old_password"].label = "Current password"
        self.fields["old_password"].widget.attrs["autofocus"] = False
        self.fields["new_password1"].help_text = RULES
        self.fields["new_password2"].label = "New password again"

    def clean_old_password(self) -> str:
        """Check the password through the backend, which also limits guesses within a session."""
        password: str = self.cleaned_data["old_password"]
        if authenticate(self.request, username=self.user.username, password=password) != self.user:
            raise ValidationError("Wrong password. After many tries, wait a minute.")
        return password


class CodeForm(forms.Form):
    code = forms.CharField(
        label="Code",
        max_length=60,
        widget=forms.TextInput(attrs=SECRET | {"autocomplete": "one-time-code"}),
        error_messages={"required": "Enter the code."},
    )


class AgainForm(forms.Form):
    """The password again, and a code if the account has a second factor."""

    password = forms.CharField(
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        error_messages={"required": "Enter your password."},
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
        error_messages={"invalid": "Enter an e-mail address, or leave this empty for a link."},
    )


class TeamForm(forms.ModelForm):
    class Meta:
        model = Team
        fields = ["name"]
        error_messages = {"name": {"required": "Enter a name for the team."}}


class SurveyTeamForm(forms.Form):
    """The team of a survey, chosen from the teams in which the user works."""

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
            raise ValidationError("First make somebody an owner of the survey itself.")
        return team
