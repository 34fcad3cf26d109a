from typing import Any

import pytest


@pytest.fixture(autouse=True)
def cheap_passwords(settings: Any) -> None:
    """Use a fast password hash, because Argon2 is slow on purpose."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def real_passwords(settings: Any, cheap_passwords: None) -> None:
    from config.settings import PASSWORD_HASHERS

    settings.PASSWORD_HASHERS = PASSWORD_HASHERS
