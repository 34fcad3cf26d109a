from django.apps import AppConfig


class SurveyConfig(AppConfig):
    name = "survey"
    verbose_name = "Surveys"

    def ready(self) -> None:
        from survey import witness

        witness.watch()
