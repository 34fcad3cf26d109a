"""Who asks, by API token."""

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication, exceptions

from survey.models import ApiToken, digest


class TokenAuthentication(authentication.TokenAuthentication):
    """`Authorization: Token …`, where only the token's SHA-256 is stored."""

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        token = ApiToken.objects.select_related("user").filter(digest=digest(key)).first()
        if token is None or not token.user.is_active:
            raise exceptions.AuthenticationFailed("This token is not valid.")
        return token.user, token


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token …`, made by `manage.py api_token`.",
        }
