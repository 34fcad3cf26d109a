from django.urls import path

from aggregation.api import files
from aggregation.api import views as api
from aggregation.dashboard import analyses, downloads, views
from aggregation.planner import views as planner
from aggregation.public_results import page as public_results

urlpatterns = [
    path("surveys/", views.overview, name="surveys"),
    path("surveys/<slug:slug>/", views.dashboard, name="dashboard"),
    path("surveys/<slug:slug>/trend/", views.trend, name="trend"),
    path("surveys/<slug:slug>/trend/over-time.csv", views.trend_file, name="trend-file"),
    path("surveys/<slug:slug>/files/", downloads.latest, name="survey-files"),
    path("surveys/<slug:slug>/settings/", views.settings, name="survey-settings"),
    path("surveys/<slug:slug>/now/", views.status, name="dashboard-status"),
    path("surveys/<slug:slug>/releases/<str:release>/", downloads.page, name="release"),
    path(
        "surveys/<slug:slug>/releases/<str:release>/<str:name>", downloads.page, name="release-file"
    ),
    path("results/<slug:slug>/", public_results.page, name="results"),
    path("surveys/<slug:slug>/analyses/", analyses.analyses, name="analyses"),
    path("surveys/<slug:slug>/analyses/<str:table>.csv", analyses.blank_file, name="blank-file"),
    path("surveys/<slug:slug>/analyses/<uuid:analysis>/", analyses.analysis, name="analysis"),
    path(
        "surveys/<slug:slug>/analyses/<uuid:analysis>/<str:file>",
        analyses.file,
        name="analysis-file",
    ),
    path("plan/", planner.plan, name="plan"),
    path("plan/half-width.svg", planner.plan_figure, name="plan-figure"),
    path("api/v1/surveys/<slug:slug>/estimates/", api.EstimatesView.as_view()),
    path("api/v1/surveys/<slug:slug>/releases/", api.ReleasesView.as_view(), name="api-releases"),
    path(
        "api/v1/surveys/<slug:slug>/releases/<str:release>/<str:name>",
        files.FileView.as_view(),
    ),
    path("api/v1/surveys/<slug:slug>/analyses/", api.AnalysesView.as_view()),
    path("api/v1/jobs/<uuid:pk>/", api.JobView.as_view(), name="api-job"),
]
