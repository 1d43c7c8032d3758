"""A run that meets a captcha: a configured solver solves it; without one it is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.page.pages import Pages, serve_pages
from tests.browser.solvers.service import KEY, TOKEN, Service, serve_service

if TYPE_CHECKING:
    from collections.abc import Iterator

WALL = """<!doctype html><title>Check</title><p>Please complete the captcha below</p>
  <div class=g-recaptcha data-sitekey=6Lwall data-callback=on style="height:80px"></div>
  <script>on = async (token) =>
    document.body.textContent = await (await fetch(`/behind-${token}`)).text()</script>"""
FORM = """<!doctype html><title>Join</title><h1>Join the club</h1><form action=/joined>
  <label>Name <input name=n></label><div class=h-captcha data-sitekey=6Lform></div>
  <button>Join</button></form>"""


@pytest.fixture
def pages() -> Iterator[Pages]:
    with serve_pages() as served:
        served.put(WALL, "/wall")
        served.put("The lamp room opens at nine.", f"/behind-{TOKEN}")
        served.put(FORM, "/form")
        served.put("<title>Joined</title><p>Welcome aboard</p>", "/joined")
        yield served


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, tmp_path) -> Iterator[Service]:
    with serve_service() as running:
        monkeypatch.setenv("TWOCAPTCHA_API_KEY", KEY)
        monkeypatch.setenv("RESEARCH_CONFIG", str(tmp_path / "none.toml"))
        yield running


@pytest.fixture
def walled(ask, script, events, pages):
    """Run a script against the pages; returns the tool results and the captcha events."""

    async def running(*replies: str, **flags: object):
        model = script(*replies, "NOT_FOUND")
        allowed = [f"127.0.0.1:{pages.port}"]
        report = await ask(model=model, allow_private=allowed, config=True, **flags)
        found = events(report)
        return (
            [event.data for event in found if event.type == "tool.result"],
            [event.data for event in found if event.type == "captcha"],
        )

    return running


async def test_captcha_block_page_is_solved_and_content_shown(walled, pages, service):
    results, captchas = await walled(
        f"<<TOOL:OPEN:{pages.base}/wall>>", solver=f"2captcha={service.url}"
    )
    assert "lamp room opens at nine" in results[0]["web"]
    assert [(c["captcha"], c["outcome"]) for c in captchas] == [("recaptcha", "ok")]
    assert service.tasks[0]["websiteKey"] == "6Lwall"


async def test_reading_block_page_suggests_opening_it_if_solver_is_set(walled, pages, service):
    read = f"<<TOOL:READ:{pages.base}/wall>>"
    with_one, _ = await walled(read, solver=f"2captcha={service.url}")
    without, _ = await walled(read)
    assert with_one[0]["data"]["advice"].startswith("OPEN it")
    assert "advice" not in without[0]["data"]


async def test_form_captcha_is_solved_on_request(walled, pages, service):
    results, _ = await walled(
        f"<<TOOL:OPEN:{pages.base}/form>>",
        "<<TOOL:SOLVE_CAPTCHA>>",
        '<<TOOL:CLICK:{"ref":"{{ref:button: Join}}"}>><<TOOL:SNAPSHOT>>',
        solver=f"2captcha={service.url}",
    )
    assert len(service.tasks) == 1, "a captcha in a form is no wall"
    assert results[1]["data"]["outcome"] == "ok"


async def test_failed_solver_leaves_block_page_and_reports_reason(walled, pages, service):
    service.error = "ERROR_ZERO_BALANCE"
    results, captchas = await walled(
        f"<<TOOL:OPEN:{pages.base}/wall>>",
        "<<TOOL:SOLVE_CAPTCHA>>",
        solver=f"2captcha={service.url}",
    )
    assert "complete the captcha" in results[0]["web"]
    assert results[1]["data"]["outcome"] == "quota"
    assert [c["outcome"] for c in captchas] == ["quota", "quota"]


async def test_captcha_is_not_sent_without_a_solver(walled, pages, service):
    results, captchas = await walled(f"<<TOOL:OPEN:{pages.base}/wall>>", "<<TOOL:SOLVE_CAPTCHA>>")
    assert "complete the captcha" in results[0]["web"]
    assert "Unknown tool" in results[1]["data"]["error"]
    assert not service.tasks
    assert not captchas


async def test_unknown_solver_is_a_usage_error(ask):
    report = await ask(solver="nobody")
    assert report.error.type == "UsageError"
    assert "2captcha" in report.error.hint
