"""2Captcha and services with the same API: people (and models) who solve captchas for money.

`createTask` takes the challenge, and `getTaskResult` is polled until the token is ready
(https://2captcha.com/api-docs). The service's own package bypasses proxies, so the two calls are
made here, through the egress proxy.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx2

from browser.solvers import SolverFailed
from browser.types import Outcome

if TYPE_CHECKING:
    from browser.solvers import Settings
    from browser.types import Challenge

API = "https://api.2captcha.com"
KEYS = ("TWOCAPTCHA_API_KEY", "APIKEY_2CAPTCHA")
"""Environment variables for the key; the second one is from the service's examples."""
POLL_SECONDS = 5.0
"""Interval between two polls, as the service requests."""
SOLVE_SECONDS = 120.0
"""By this time, the service itself has usually given up."""
CALL_SECONDS = 20.0  # per call to the service
TASK_TYPES = {
    "recaptcha": "RecaptchaV2TaskProxyless",
    "recaptcha-enterprise": "RecaptchaV2EnterpriseTaskProxyless",
    "hcaptcha": "HCaptchaTaskProxyless",
    "turnstile": "TurnstileTaskProxyless",
}
_OUTCOMES = {
    "ERROR_KEY_DOES_NOT_EXIST": Outcome.UNAUTHORIZED,
    "ERROR_WRONG_USER_KEY": Outcome.UNAUTHORIZED,
    "ERROR_IP_NOT_ALLOWED": Outcome.UNAUTHORIZED,
    "ERROR_IP_BANNED": Outcome.BLOCKED,
    "ERROR_ZERO_BALANCE": Outcome.QUOTA,
    "ERROR_NO_SLOT_AVAILABLE": Outcome.RATE_LIMITED,
}
_UNSOLVED = frozenset({"ERROR_CAPTCHA_UNSOLVABLE", "ERROR_BAD_DUPLICATES"})


class TwoCaptcha:
    """Solves reCAPTCHA v2, hCaptcha and Turnstile; `poll` is in seconds."""

    def __init__(self, settings: Settings, *, poll: float = POLL_SECONDS) -> None:
        key = next((settings.environ[name] for name in KEYS if settings.environ.get(name)), None)
        if key is None:
            why = f"2captcha requires its key in the environment variable {KEYS[0]}"
            raise SolverFailed(why, Outcome.UNAUTHORIZED)
        self._key = key
        self._poll = poll
        self._http = httpx2.AsyncClient(
            base_url=settings.url or API,
            proxy=settings.proxy,
            trust_env=False,
            timeout=CALL_SECONDS,
        )

    async def solve(self, challenge: Challenge) -> str | None:
        """Submit the challenge and wait for its token; raises SolverFailed."""
        try:
            async with asyncio.timeout(SOLVE_SECONDS):
                made = await self._call("createTask", task=build_task(challenge))
                return None if made is None else await self._token(made["taskId"])
        except TimeoutError as error:
            why = f"2captcha did not respond within {SOLVE_SECONDS:g} s"
            raise SolverFailed(why, Outcome.TIMEOUT) from error
        except KeyError as error:
            raise SolverFailed(f"2captcha's response lacks {error}") from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _token(self, task: int) -> str | None:
        while (answer := await self._call("getTaskResult", taskId=task)) is not None:
            if answer["status"] == "ready":
                solution = answer["solution"]
                return str(solution.get("token") or solution["gRecaptchaResponse"])
            await asyncio.sleep(self._poll)
        return None

    async def _call(self, method: str, **fields: Any) -> dict[str, Any] | None:
        """Make a call; None if the service says that the captcha cannot be solved."""
        try:
            response = await self._http.post(f"/{method}", json={"clientKey": self._key, **fields})
            answer: dict[str, Any] = response.raise_for_status().json()
        except (httpx2.HTTPError, ValueError) as error:
            raise SolverFailed(f"2captcha cannot be reached: {type(error).__name__}") from error
        if not answer.get("errorId"):
            return answer
        code = str(answer.get("errorCode"))
        if code in _UNSOLVED:
            return None
        reason = answer.get("errorDescription") or code
        raise SolverFailed(f"2captcha: {reason}"[:200], _OUTCOMES.get(code, Outcome.ERROR))


def build_task(challenge: Challenge) -> dict[str, Any]:
    """Convert a challenge to the service's task format."""
    kind = f"{challenge.kind}-enterprise" if challenge.enterprise else challenge.kind
    task: dict[str, Any] = {
        "type": TASK_TYPES.get(kind, TASK_TYPES[challenge.kind]),
        "websiteURL": challenge.url,
        "websiteKey": challenge.site_key,
    }
    if challenge.invisible:
        task["isInvisible"] = True
    if challenge.action:
        task["action"] = challenge.action
    if challenge.data:
        field = "recaptchaDataSValue" if challenge.kind == "recaptcha" else "data"
        task[field] = challenge.data
    return task
