from importlib import import_module

from django.apps import AppConfig


class SurveyConfig(AppConfig):
    name = "survey"
    verbose_name = "Surveys"

    def ready(self) -> None:
        import_module("survey.audit.listeners")
