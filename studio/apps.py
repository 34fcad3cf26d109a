from importlib import import_module

from django.apps import AppConfig


class StudioConfig(AppConfig):
    name = "studio"
    verbose_name = "Studio"

    def ready(self) -> None:
        import_module("studio.checklist")  # connects its signal receiver
