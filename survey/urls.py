"""The URLs of this app; those for reports are in survey/collect/door.py."""

from django.urls import path, register_converter

from survey.access import exchange, invitations
from survey.api import definitions
from survey.audit import pages
from survey.respondent import preview, public_design, shell

register_converter(preview.Token, "token")

urlpatterns = [
    path("s/", shell.respond),  # the shell's address in the manifest
    path("s/<slug:slug>/", shell.respond, name="respond"),
    path("s/<token:token>/definition/", preview.definition),
    path("s/<slug:slug>/definition/", shell.definition),
    path("designs/<slug:slug>/", public_design.page, name="design"),
    path("designs/<slug:slug>/design.json", public_design.canonical, name="design-json"),
    path("verify/", shell.verify, name="verify"),
    path(".well-known/candor-manifest.json", shell.hashes),
    path("surveys/<slug:slug>/invitations/", invitations.page, name="invitations"),
    path("surveys/<slug:slug>/log/", pages.page, name="survey-log"),
    path("surveys/<slug:slug>/log/log.csv", pages.as_csv, name="survey-log-csv"),
    path("surveys/<slug:slug>/log/log.jsonl", pages.as_json_lines, name="survey-log-jsonl"),
    path("log/", pages.page, name="log"),
    path("log/log.csv", pages.as_csv, name="log-csv"),
    path("log/log.jsonl", pages.as_json_lines, name="log-jsonl"),
    path("api/v1/surveys/", definitions.SurveyList.as_view()),
    path("api/v1/surveys/<slug:slug>/", definitions.DefinitionView.as_view()),
    path("api/v1/surveys/<slug:slug>/passes/", exchange.view),
    path("api/v1/surveys/<token:token>/reports/", preview.report),
]
