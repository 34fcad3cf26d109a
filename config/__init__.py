from config.celery import app as celery_app

__all__ = ["celery_app"]
__version__ = "0.3.0"  # of the project; the API version is in its URLs
