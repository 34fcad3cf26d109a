from config.celery import app as celery_app

__all__ = ["celery_app"]
__version__ = "0.3.0"  # of the whole project; the API has a version of its own, in its addresses
