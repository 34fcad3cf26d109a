"""The back room: make a survey, look at its design and odds, open it, close it."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from survey.design import Design, DesignError
from survey.design.languages import DISCLOSURES
from survey.design.mechanism import SCALE
from survey.forms import QuestionForm, SurveyForm
from survey.models import ApiToken, Membership, Question, Removed, Role, Survey

admin.site.site_header = "Candor"
admin.site.site_title = "Candor"
admin.site.index_title = "Back room"
admin.site.disable_action("delete_selected")  # one at a time, each with its entry in the log


class FrozenWithSurvey(admin.StackedInline):
    """Rows that can be changed only while their survey is a draft."""

    extra = 0

    def _draft(self, survey: Survey | None) -> bool:
        return survey is None or survey.state == Survey.State.DRAFT

    def has_add_permission(self, request: HttpRequest, obj: Survey | None = None) -> bool:
        return self._draft(obj) and super().has_add_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Survey | None = None) -> bool:
        return self._draft(obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Survey | None = None) -> bool:
        return self._draft(obj) and super().has_delete_permission(request, obj)


class QuestionInline(FrozenWithSurvey):
    model = Question
    form = QuestionForm


class MembershipInline(admin.TabularInline):
    model = Membership
    extra = 0
    verbose_name = "person"
    verbose_name_plural = "people"
    autocomplete_fields = ["user"]


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):
    """Tokens can be looked at and revoked here; people make them at /account/tokens/."""

    list_display = ["user", "label", "made_on", "used_on"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False


@admin.register(Removed)
class RemovedAdmin(admin.ModelAdmin):
    """What is left of surveys that `manage.py remove_survey` removed."""

    list_display = ["title", "slug", "reports", "removed_on"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Removed | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Removed | None = None) -> bool:
        return False


@admin.register(Survey)
class SurveyAdmin(admin.ModelAdmin):
    form = SurveyForm
    list_display = ["title", "slug", "state", "epsilon", "opened_on", "closed_on"]
    list_filter = ["state"]
    search_fields = ["slug", "title"]
    prepopulated_fields = {"slug": ["title"]}
    inlines = [QuestionInline, MembershipInline]
    frozen = (
        "slug", "title", "introduction", "asked_by", "purpose", "contact", "retention_days",
        "expected", "language", "translations", "epsilon", "ask", "crowd",
        "access", "work",
    )  # fmt: skip
    readonly_fields = ["state_now", "outcome"]
    fieldsets = [
        (None, {"fields": ["title", "slug", "introduction", "state_now"]}),
        ("Who asks, and why", {"fields": ["asked_by", "purpose", "contact", "retention_days"]}),
        ("People", {"fields": ["expected"]}),
        ("Privacy", {"fields": ["epsilon", "ask", "crowd", "outcome"]}),
        ("Access", {"fields": ["access", "work"]}),
        ("Languages", {"fields": ["language", "translations"]}),
        ("Results", {"fields": ["results_public"]}),
    ]

    def get_fieldsets(self, request: HttpRequest, obj: Survey | None = None) -> Any:
        """Once open, the translations are read where the design is shown, not as JSON."""
        if obj is None or obj.state == Survey.State.DRAFT:
            return self.fieldsets
        return [
            (name, {"fields": [field for field in options["fields"] if field != "translations"]})
            for name, options in self.fieldsets
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Survey | None = None) -> list[str]:
        frozen = self.frozen if obj and obj.state != Survey.State.DRAFT else ()
        return [*self.readonly_fields, *frozen]

    def get_prepopulated_fields(
        self, request: HttpRequest, obj: Survey | None = None
    ) -> dict[str, Any]:
        draft = obj is None or obj.state == Survey.State.DRAFT
        return {"slug": ["title"]} if draft else {}

    def has_delete_permission(self, request: HttpRequest, obj: Survey | None = None) -> bool:
        draft = obj is None or obj.state == Survey.State.DRAFT
        return draft and super().has_delete_permission(request, obj)

    @admin.display(description="state")
    def state_now(self, survey: Survey) -> SafeString | str:
        if survey.pk is None:
            return "A draft, once saved"
        verbs = {Survey.State.DRAFT: "open", Survey.State.OPEN: "close"}
        verb = verbs.get(Survey.State(survey.state))
        if verb is None:
            text = f"Closed on {survey.closed_on}; opened on {survey.opened_on}"
            return format_html("{}{}", text, addresses(survey))
        return format_html(
            '{} &nbsp; <a class="button" href="{}">{} …</a>{}',
            survey.get_state_display(),
            reverse(f"admin:survey_{verb}", args=[survey.pk]),
            verb.capitalize(),
            addresses(survey),
        )

    @admin.display(description="what respondents get")
    def outcome(self, survey: Survey) -> SafeString | str:
        if survey.pk is None:
            return "Save the survey with its questions to see its design and odds."
        return described(survey)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("<int:pk>/open/", wrap(self.open_view), name="survey_open"),
            path("<int:pk>/close/", wrap(self.close_view), name="survey_close"),
            *super().get_urls(),
        ]

    def open_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._turn(request, pk, "open")

    def close_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._turn(request, pk, "close")

    def _turn(self, request: HttpRequest, pk: int, verb: str) -> HttpResponse:
        """Ask once, then open or close."""
        survey = get_object_or_404(Survey, pk=pk)
        if not self.has_change_permission(request, survey):
            raise PermissionDenied
        if request.method != "POST":
            context = {
                **self.admin_site.each_context(request),
                "title": f"{verb.capitalize()} “{survey.title}”?",
                "survey": survey,
                "verb": verb,
                "outcome": described(survey),
                "seen": seen_hash(survey),
            }
            return render(request, "admin/survey/survey/turn.html", context)
        try:
            if verb == "open":
                survey.open(request.POST.get("seen", ""), by=request.user)
            else:
                survey.close(by=request.user)
        except DesignError as error:
            messages.error(request, f"The survey cannot open. {error}")
        except ValidationError as error:
            for message in error.messages:
                messages.error(request, message)
        else:
            self.log_change(request, survey, [{"changed": {"fields": ["state"]}}])
            messages.success(request, f"The survey is {survey.state} now.")
        return redirect("admin:survey_survey_change", pk)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """A survey that was opened while its form was being filled in stays as it is."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except IntegrityError:
            messages.error(request, "Nothing was saved: the survey was opened in the meantime.")
            return redirect(request.path)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Whoever makes a survey is its owner, unless they said otherwise."""
        super().save_related(request, form, formsets, change)
        if not change:
            made_by = {"survey": form.instance, "user": request.user}
            Membership.objects.get_or_create(**made_by, defaults={"role": Role.OWNER})

    def response_change(self, request: HttpRequest, obj: Survey) -> HttpResponse:
        """Say at once what stands in the way of a draft, whichever page comes next."""
        try:
            if obj.state == Survey.State.DRAFT:
                obj.design_to_open()
        except DesignError as error:
            messages.warning(request, f"Not ready to open. {error}")
        return super().response_change(request, obj)

    def response_add(
        self, request: HttpRequest, obj: Survey, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Stay with a new survey: its design and odds come next."""
        if "_save" in request.POST:
            messages.success(request, "Saved as a draft. Look at the design and odds, then open.")
            return HttpResponseRedirect(reverse("admin:survey_survey_change", args=[obj.pk]))
        return super().response_add(request, obj, post_url_continue)


def addresses(survey: Survey) -> SafeString:
    """Where respondents answer and researchers read, once there is something."""
    if survey.state == Survey.State.DRAFT:
        return SafeString("")
    return format_html(
        '<p>Respondents: <a href="{0}">{0}</a><br>Researchers: <a href="{1}">{1}</a></p>',
        reverse("respond", args=[survey.slug]),
        reverse("dashboard", args=[survey.slug]),
    )


def seen_hash(survey: Survey) -> str:
    """What the person who opens a survey must have seen: all that will be frozen."""
    return survey.content_hash()


def described(survey: Survey) -> SafeString:
    """The design and its odds, before opening as after; or what stands in the way."""
    try:
        draft = survey.state == Survey.State.DRAFT
        design = survey.design_to_open() if draft else survey.frozen_design()
    except DesignError as error:
        return format_html('<p class="errornote">Not ready to open. {}</p>', str(error))
    return SafeString(
        render_to_string(
            "admin/survey/survey/design.html",
            {
                "survey": survey,
                "design": design,
                "sure": design.sure,
                "blocks": blocks(design),
                "translations": translations(survey, design),
            },
        )
    )


def blocks(design: Design) -> list[dict[str, Any]]:
    return [
        {
            "key": block.key,
            "epsilon": block.epsilon,
            "kept": 100 * block.keep / SCALE,
            "questions": [
                {
                    "key": question.key,
                    "text": question.text,
                    "options": question.options,
                    "a": 100 * block.mechanism.channel(i)[0],
                    "b": 100 * block.mechanism.channel(i)[1],
                }
                for i, question in enumerate(block.questions)
            ],
        }
        for block in design.blocks
    ]


def translations(survey: Survey, design: Design) -> list[dict[str, Any]]:
    """By language, every text that a respondent reads, beside its translation."""
    found = [(tag, list(texts(survey, design, tag))) for tag in sorted(survey.translations)]
    return [
        {"tag": tag, "texts": both, "missing": sum(not translated for _, translated in both)}
        for tag, both in found
    ]


def texts(survey: Survey, design: Design, tag: str) -> Iterator[tuple[str, str]]:
    given, frozen = survey.translations[tag], design.translations.get(tag, {})
    yield survey.title, given.get("title", "")
    if survey.introduction:
        yield survey.introduction, given.get("introduction", "")
    for name in DISCLOSURES:
        if text := design.told.get(name):
            yield text, frozen.get("told", {}).get(name, "")
    for question in design.questions:
        translated = frozen.get("questions", {}).get(question.key, {})
        yield question.text, translated.get("text", "")
        yield (
            " · ".join(option.text for option in question.options),
            " · ".join(translated.get("options", [])),
        )
