from django.urls import path

from aggregation import analysis_pages, api, downloads, log_pages, results, views

urlpatterns = [
    path("surveys/", views.overview, name="surveys"),
    path("surveys/<slug:slug>/", views.dashboard, name="dashboard"),
    path("surveys/<slug:slug>/trend/", views.trend, name="trend"),
    path("surveys/<slug:slug>/now/", views.now, name="now"),
    path("surveys/<slug:slug>/releases/<str:release>/", downloads.page, name="release"),
    path("surveys/<slug:slug>/releases/<str:release>/<str:name>", downloads.page, name="file"),
    path("surveys/<slug:slug>/log/", log_pages.page, name="survey-log"),
    path("surveys/<slug:slug>/log/log.csv", log_pages.as_csv, name="survey-log-csv"),
    path("surveys/<slug:slug>/log/log.jsonl", log_pages.as_json_lines, name="survey-log-jsonl"),
    path("log/", log_pages.page, name="log"),
    path("log/log.csv", log_pages.as_csv, name="log-csv"),
    path("log/log.jsonl", log_pages.as_json_lines, name="log-jsonl"),
    path("results/<slug:slug>/", results.page, name="results"),
    path("surveys/<slug:slug>/analyses/", analysis_pages.analyses, name="analyses"),
    path("surveys/<slug:slug>/analyses/margins.csv", analysis_pages.margins_file, name="margins"),
    path("surveys/<slug:slug>/analyses/<uuid:analysis>/", analysis_pages.analysis, name="analysis"),
    path(
        "surveys/<slug:slug>/analyses/<uuid:analysis>/<str:file>",
        analysis_pages.file,
        name="analysis-file",
    ),
    path("plan/", views.plan, name="plan"),
    path("plan/half-width.svg", views.plan_figure, name="plan-figure"),
    path("api/v1/surveys/<slug:slug>/estimates/", api.EstimatesView.as_view()),
    path("api/v1/surveys/<slug:slug>/releases/", api.ReleasesView.as_view(), name="api-releases"),
    path(
        "api/v1/surveys/<slug:slug>/releases/<str:release>/<str:name>",
        downloads.FileView.as_view(),
    ),
    path("api/v1/surveys/<slug:slug>/analyses/", api.AnalysesView.as_view()),
    path("api/v1/jobs/<uuid:pk>/", api.JobView.as_view(), name="api-job"),
]
