from django.urls import path

from aggregation import api, downloads, results, views

urlpatterns = [
    path("surveys/", views.overview, name="surveys"),
    path("surveys/<slug:slug>/", views.dashboard, name="dashboard"),
    path("surveys/<slug:slug>/trend/", views.trend, name="trend"),
    path("surveys/<slug:slug>/now/", views.now, name="now"),
    path("surveys/<slug:slug>/releases/<str:release>/", downloads.page, name="release"),
    path("surveys/<slug:slug>/releases/<str:release>/<str:name>", downloads.page, name="file"),
    path("results/<slug:slug>/", results.page, name="results"),
    path("plan/", views.plan, name="plan"),
    path("api/v1/surveys/<slug:slug>/estimates/", api.EstimatesView.as_view()),
    path("api/v1/surveys/<slug:slug>/releases/", api.ReleasesView.as_view(), name="api-releases"),
    path(
        "api/v1/surveys/<slug:slug>/releases/<str:release>/<str:name>",
        downloads.FileView.as_view(),
    ),
    path("api/v1/surveys/<slug:slug>/analyses/", api.AnalysesView.as_view()),
    path("api/v1/jobs/<uuid:pk>/", api.JobView.as_view(), name="api-job"),
]
