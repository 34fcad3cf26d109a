from django.urls import path

from survey import api, ingest, views

urlpatterns = [
    path("s/<slug:slug>/", views.respond, name="respond"),
    path("api/v1/surveys/", api.SurveyList.as_view()),
    path("api/v1/surveys/<slug:slug>/", api.DefinitionView.as_view()),
    path("api/v1/surveys/<slug:slug>/reports/", ingest.report),
    path("api/v1/surveys/<slug:slug>/reports/batch/", ingest.reports),
]
