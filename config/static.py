"""Static files under content-hashed names, the imports inside modules included."""

from wsgiref.headers import Headers

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    support_js_module_import_aggregation = True


def add_headers(headers: Headers, path: str, url: str) -> None:
    """Our files are for our own pages."""
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
