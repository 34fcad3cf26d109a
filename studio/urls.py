from django.urls import path

from studio import opening, views

urlpatterns = [
    path("new/", views.new, name="studio-new"),
    path("<slug:slug>/", views.editor, name="studio"),
    path("<slug:slug>/draft/", views.draft, name="studio-draft"),
    path("<slug:slug>/open/", opening.page, name="studio-open"),
    path("<slug:slug>/copy/", views.copy, name="studio-copy"),
    path("<slug:slug>/survey.json", views.export, name="studio-export"),
]
