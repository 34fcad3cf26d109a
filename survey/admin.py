"""The administration pages: everything can be searched and read, but our own data not changed.

Surveys are created, opened and closed in the studio; roles are given on the pages of surveys and
teams. Here, only Django's own accounts can be edited, and tokens revoked.
"""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from survey.models import (
    ApiToken,
    Entry,
    Membership,
    Question,
    Removed,
    Survey,
    Team,
    TeamMembership,
)

admin.site.site_header = "Candor"
admin.site.site_title = "Candor"
admin.site.index_title = "Administration"
admin.site.disable_action("delete_selected")  # delete one at a time, so that each is logged


class ReadOnly:
    """A page or inline where nothing can be added, changed or deleted."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnly, admin.ModelAdmin):
    pass


class QuestionInline(ReadOnly, admin.StackedInline):
    model = Question
    extra = 0


class MembershipInline(ReadOnly, admin.TabularInline):
    model: type[Model] = Membership
    extra = 0
    verbose_name = "person"
    verbose_name_plural = "people"


class TeamMembershipInline(MembershipInline):
    model = TeamMembership


@admin.register(Survey)
class SurveyAdmin(ReadOnlyAdmin):
    list_display = ["title", "slug", "state", "team", "epsilon", "opened_on", "closed_on"]
    list_filter = ["state", "access"]
    search_fields = ["slug", "title", "asked_by", "contact", "design_hash"]
    readonly_fields = ["pages"]
    inlines = [QuestionInline, MembershipInline]

    @admin.display(description="pages")
    def pages(self, survey: Survey) -> SafeString:
        return format_html(
            '<a href="{}">Studio</a> · <a href="{}">Dashboard</a> · <a href="{}">People</a>',
            reverse("studio", args=[survey.slug]),
            reverse("dashboard", args=[survey.slug]),
            reverse("people", args=[survey.slug]),
        )


@admin.register(Team)
class TeamAdmin(ReadOnlyAdmin):
    search_fields = ["name"]
    inlines = [TeamMembershipInline]


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """Tokens are created at /account/tokens/; a leaked one can be revoked here."""

    list_display = ["user", "label", "made_on", "used_on"]
    search_fields = ["user__username", "label"]
    exclude = ["digest"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)


@admin.register(Entry)
class EntryAdmin(ReadOnlyAdmin):
    list_display = ["number", "time", "actor", "what", "survey"]
    list_filter = ["what"]
    search_fields = ["actor", "survey", "detail", "hash"]


@admin.register(Removed)
class RemovedAdmin(ReadOnlyAdmin):
    """The records of removed surveys."""

    list_display = ["title", "slug", "reports", "removed_on"]
    search_fields = ["title", "slug", "design_hash", "archive"]
