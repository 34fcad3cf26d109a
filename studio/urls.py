from django.urls import path

from studio import opening

urlpatterns = [
    path("<slug:slug>/", opening.editor, name="studio"),
    path("<slug:slug>/open/", opening.page, name="studio-open"),
]
