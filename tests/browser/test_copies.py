"""Large files in a real browser with a real worker."""

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

from tests.support.pages import SLUG, VIEWPORTS, log_in, looked_at, no_violations
from tests.support.services import Candor, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("copies")]  # one site for all

CLOSE = """
from aggregation.releases.publish import make_release
survey = Survey.objects.get(slug="wellbeing-at-work")
survey.close()
while not (last := survey.releases.filter(final=True).first()):  # by us or by the beat
    make_release(survey)
print(last.number)
"""


class Site(NamedTuple):
    candor: Candor
    last: int  # the last release; the beat may have made others before

    @property
    def releases(self) -> str:
        return f"{self.candor.url}/surveys/{SLUG}/releases/{self.last}"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """Yield the closed demo, where 5,000 reports count as many."""
    with Candor(CANDOR_STREAMED_REPORTS="1000") as candor:
        candor.load_demo()
        yield Site(candor, int(candor.manage("shell", "-v0", "-c", CLOSE)))


@pytest.fixture
def page(site: Site, page: Page) -> Page:
    log_in(page, f"{site.candor.url}/surveys/{SLUG}/files/")
    return page


def test_the_complete_download_reproduces_the_estimates(
    site: Site, page: Page, tmp_path: Path
) -> None:
    """The script in it finds the published estimates of the demo's closed survey."""
    page.locator("section.home").get_by_role("link", name="Everything").click()
    expect(page.get_by_role("heading", name="This file is large")).to_be_visible()
    page.get_by_role("button", name="Prepare everything.zip").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Ready", timeout=60_000)
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download everything.zip").click()
    assert download.value.suggested_filename == f"{SLUG}-release-{site.last}.zip"
    with ZipFile(io.BytesIO(Path(download.value.path()).read_bytes())) as bundle:
        assert {"reports.csv", "figures/figure-harassed.svg"} <= set(bundle.namelist())
        bundle.extractall(tmp_path)
    done = subprocess.run(
        [sys.executable, "-I", "estimate.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0 and "estimates: as published" in done.stderr
    page.goto(page.url.replace("everything.zip", ""))
    with page.expect_download():  # it is ready, so it downloads at once
        page.get_by_role("link", name="Everything").click()


def test_a_file_can_be_cancelled_and_deleted(site: Site, page: Page) -> None:
    """The worker is stopped, so that there is time to press the button."""
    candor = site.candor
    candor.manage(
        "shell", "-v0", "-c",
        "from aggregation.models import *; from aggregation.models.job import Copy; "
        "from datetime import timedelta; from django.utils import timezone; "
        f"r = Release.objects.get(final=True, survey__slug='{SLUG}'); "
        "c = Copy.objects.create(release=r, name='reports.csv', address='http://x/'); "
        "Job.objects.create(survey=r.survey, copy=c, "
        "lease=timezone.now() + timedelta(seconds=50))",  # a longer lease would count as expired
    )  # fmt: skip
    page.goto(f"{site.releases}/reports.csv")
    expect(page.get_by_role("status")).to_contain_text("Waiting for a worker")
    no_violations(page)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled.")).to_be_visible()
    page.get_by_role("button", name="Prepare reports.csv").click()
    expect(page.get_by_role("status")).to_contain_text("Ready", timeout=60_000)
    folder = candor.var / "copies"
    assert [path.name for path in folder.iterdir() if path.suffix == ".part"] == []
    made = len(list(folder.iterdir()))
    candor.manage(
        "shell", "-v0", "-c",
        "from aggregation.models import *; from datetime import timedelta; "
        "from django.utils import timezone; "
        "Job.objects.filter(copy__name='reports.csv')"
        ".update(made_at=timezone.now() - timedelta(days=2))",
    )  # fmt: skip
    # The beat's next tick deletes it.
    wait_until(lambda: len(list(folder.iterdir())) == made - 1, 60, "the end of a file")


@pytest.mark.parametrize("viewport", VIEWPORTS.values(), ids=VIEWPORTS.keys())
def test_the_page_is_accessible(site: Site, page: Page, viewport: tuple[int, int]) -> None:
    page.set_viewport_size({"width": viewport[0], "height": viewport[1]})
    site.candor.manage("shell", "-v0", "-c", "from aggregation.models import *; Job.objects.filter("
                       "copy__name='reports.csv').delete()")  # fmt: skip
    page.goto(f"{site.releases}/reports.csv")
    expect(page.get_by_role("button", name="Prepare reports.csv")).to_be_visible()
    looked_at(page)
