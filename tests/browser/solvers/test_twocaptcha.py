"""2captcha's API against a loopback service, and solvers from other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from urchin_extras.twocaptcha import TwoCaptcha

from browser.solvers import (
    Settings,
    SolverFailed,
    SolverMissing,
    make_solver,
    solver_names,
)
from browser.types import Challenge, Outcome
from tests.browser.solvers.service import KEY, TOKEN, Service, serve_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

PAGE = "https://example.org/form"


@pytest.fixture
def service() -> Iterator[Service]:
    with serve_service() as running:
        yield running


@pytest.fixture
async def solver(service: Service) -> AsyncIterator[TwoCaptcha]:
    made = TwoCaptcha(Settings({"TWOCAPTCHA_API_KEY": KEY}, service.url), poll=0.01)
    yield made
    await made.aclose()


@pytest.mark.parametrize(
    ("challenge", "task"),
    [
        (
            Challenge("recaptcha", "6Lkey", PAGE, invisible=True, data="s"),
            {"type": "RecaptchaV2TaskProxyless", "isInvisible": True, "recaptchaDataSValue": "s"},
        ),
        (
            Challenge("recaptcha", "6Lkey", PAGE, enterprise=True),
            {"type": "RecaptchaV2EnterpriseTaskProxyless"},
        ),
        (Challenge("hcaptcha", "6Lkey", PAGE), {"type": "HCaptchaTaskProxyless"}),
        (
            Challenge("turnstile", "6Lkey", PAGE, action="login", data="c"),
            {"type": "TurnstileTaskProxyless", "action": "login", "data": "c"},
        ),
    ],
)  # fmt: skip
async def test_challenge_is_submitted_and_polled_until_token(service, solver, challenge, task):
    service.busy = 2
    assert await solver.solve(challenge) == TOKEN
    assert service.tasks == [{"websiteURL": PAGE, "websiteKey": "6Lkey", **task}]


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("ERROR_ZERO_BALANCE", Outcome.QUOTA),
        ("ERROR_NO_SLOT_AVAILABLE", Outcome.RATE_LIMITED),
        ("ERROR_RECAPTCHA_INVALID_SITEKEY", Outcome.ERROR),
    ],
)
async def test_service_error_maps_to_outcome(service, solver, code, outcome):
    service.error = code
    with pytest.raises(SolverFailed) as refused:
        await solver.solve(Challenge("hcaptcha", "k", PAGE))
    assert refused.value.outcome is outcome


async def test_unsolvable_captcha_returns_none(service, solver):
    service.error = "ERROR_CAPTCHA_UNSOLVABLE"
    assert await solver.solve(Challenge("hcaptcha", "k", PAGE)) is None


async def test_unreachable_service_raises_solver_failed(solver, service):
    solver._http.base_url = "http://127.0.0.1:9"
    with pytest.raises(SolverFailed, match="cannot be reached"):
        await solver.solve(Challenge("hcaptcha", "k", PAGE))


def test_missing_api_key_raises_solver_failed():
    with pytest.raises(SolverFailed, match="TWOCAPTCHA_API_KEY") as refused:
        make_solver("2captcha", Settings())
    assert refused.value.outcome is Outcome.UNAUTHORIZED


def test_unknown_solver_error_lists_installed_solvers():
    with pytest.raises(SolverMissing) as missing:
        make_solver("nobody", Settings())
    assert "2captcha" in missing.value.hint


async def test_installed_package_provides_a_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "otherwise-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: otherwise\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[urchin.solvers]\nother = otherwise:Other\n")
    (tmp_path / "otherwise.py").write_text(
        "class Other:\n"
        "    def __init__(self, settings): self.settings = settings\n"
        "    async def solve(self, challenge): return f'{challenge.kind}!'\n"
        "    async def aclose(self): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert "other" in solver_names()
    made = make_solver("other", Settings())
    assert await made.solve(Challenge("turnstile", "k", PAGE)) == "turnstile!"
