"""A researcher downloads a release in a real browser."""

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.support.pages import SLUG, log_in
from tests.support.services import Candor

pytestmark = pytest.mark.browser


def test_the_download_reproduces_estimates_and_the_citation_is_copied(
    candor_server: Candor, new_context: Callable[..., BrowserContext], tmp_path: Path
) -> None:
    candor_server.load_demo()
    context = new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    log_in(page, f"{candor_server.url}/surveys/{SLUG}/files/")
    section = page.locator("section.home")
    expect(section).to_contain_text("without ids or times")
    section.get_by_role("button", name="Copy the BibTeX").click()
    expect(section.get_by_text("Copied.")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"@misc{{{SLUG}-release-") and copied.rstrip().endswith("}")
    with page.expect_download() as download:
        section.get_by_role("link", name="Everything").click()
    assert download.value.suggested_filename.startswith(f"{SLUG}-release-")
    with ZipFile(io.BytesIO(download.value.path().read_bytes())) as bundle:
        assert "reports.csv" in bundle.namelist()  # also while the survey is open
        bundle.extractall(tmp_path)
    done = subprocess.run(
        [sys.executable, "-I", tmp_path / "estimate.py", tmp_path],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "as published" in done.stderr
