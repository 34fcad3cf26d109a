"""Error pages in the reader's language."""

from django.http import HttpRequest, HttpResponse
from django.template.loader import get_template

from survey.words.reader import reader, varies


def error_page(
    request: HttpRequest, name: str, status: int, link: str = "", count: int = 0
) -> HttpResponse:
    """Return a page with the texts of this name; `link` leads to where its link text says."""
    words = reader(request)
    texts = words["errors"][name]
    context = {
        "words": words,
        "title": texts["title"],
        "text": words.fill(texts["text"], count=count),
        "link": link,
        "link_text": texts.get("link", ""),
        "signed_in": getattr(getattr(request, "user", None), "is_authenticated", False),
    }
    # Without the request, because the page must not need more than what still works.
    response = HttpResponse(get_template("error.html").render(context), status=status)
    varies(response)
    return response


def too_often(request: HttpRequest, seconds: int) -> HttpResponse:
    response = error_page(request, "too_often", 429, count=seconds)
    response["Retry-After"] = str(seconds)
    return response
