"""The addresses of this app; those of reports are in survey/collect/door.py."""

from django.urls import path, register_converter

from survey import accounts, api, exchange, invitations, preview, public, views

register_converter(preview.Token, "token")

urlpatterns = [
    path("s/", views.respond),  # the address under which the manifest lists the shell
    path("s/<slug:slug>/", views.respond, name="respond"),
    path("s/<token:token>/definition/", preview.definition),
    path("s/<slug:slug>/definition/", views.definition),
    path("designs/<slug:slug>/", public.page, name="design"),
    path("designs/<slug:slug>/design.json", public.canonical, name="design-json"),
    path("verify/", views.verify, name="verify"),
    path(".well-known/candor-manifest.json", views.hashes),
    path("surveys/<slug:slug>/invitations/", invitations.page, name="invitations"),
    path("account/tokens/", accounts.tokens, name="tokens"),
    path("api/v1/surveys/", api.SurveyList.as_view()),
    path("api/v1/surveys/<slug:slug>/", api.DefinitionView.as_view()),
    path("api/v1/surveys/<slug:slug>/passes/", exchange.view),
    path("api/v1/surveys/<token:token>/reports/", preview.report),
]
