from django.apps import AppConfig


class StudioConfig(AppConfig):
    name = "studio"
    verbose_name = "Studio"

    def ready(self) -> None:
        from studio import checklist
        from survey.models import opening

        opening.connect(checklist.refuse)
