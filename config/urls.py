"""All URLs of the site."""

from csp.decorators import csp_update
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

# Only Swagger's page uses style attributes.
docs = csp_update({"style-src": "'unsafe-inline'"})(
    SpectacularSwaggerSplitView.as_view(url_name="schema", permission_classes=[])
)

handler400 = "operations.error_pages.bad_request"
handler403 = "operations.error_pages.forbidden"
handler404 = "operations.error_pages.not_found"
handler500 = "operations.error_pages.server_error"

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="surveys")),
    path("", include("survey.urls")),
    path("", include("aggregation.urls")),
    path("", include("people.urls")),  # before the admin pages, whose login it replaces
    path("studio/", include("studio.urls")),
    path("admin/", admin.site.urls),
    path("api/schema/", SpectacularAPIView.as_view(permission_classes=[]), name="schema"),
    path("api/docs/", docs, name="api-docs"),
]
