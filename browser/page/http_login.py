"""HTTP authentication (Basic, Digest): opens the protected page, or the site's refusal page."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from browser.net.url import origin
from browser.page.waiting import run_in_background

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import CDPSession, Page

    from browser.types import HttpLogin


@asynccontextmanager
async def answering_requests(
    page: Page, url: str, login: HttpLogin | None
) -> AsyncIterator[list[str]]:
    """Answer requests for authentication while the body runs.

    `login` is sent once, to the origin of `url`; other requests are declined. After a declined
    request, the site sends its refusal page; an unanswered request would prevent the page from
    loading. The browser keeps accepted credentials for that origin. Yields the names of the realms
    that asked for authentication.
    """
    session = await page.context.new_cdp_session(page)
    realms: list[str] = []
    given = set[str]()

    async def send(method: str, request: str, **more: Any) -> None:
        with suppress(PlaywrightError):  # the request no longer exists
            await session.send(method, {"requestId": request, **more})

    def answer(event: dict[str, Any]) -> None:
        challenge, request = event["authChallenge"], event["requestId"]
        reply: dict[str, str] = {"response": "CancelAuth"}
        if challenge.get("source") == "Proxy":
            reply = {"response": "Default"}
        elif origin(challenge["origin"]) == origin(url):
            realms.append(challenge["realm"])
            if login and request not in given:
                given.add(request)
                reply = {"response": "ProvideCredentials", "username": login.user}
                reply["password"] = login.password
        run_in_background(send("Fetch.continueWithAuth", request, authChallengeResponse=reply))

    def continue_request(event: dict[str, Any]) -> None:
        run_in_background(send("Fetch.continueRequest", event["requestId"]))

    session.on("Fetch.authRequired", answer)
    session.on("Fetch.requestPaused", continue_request)
    documents = {"patterns": [{"resourceType": "Document"}], "handleAuthRequests": True}
    await session.send("Fetch.enable", documents)
    try:
        yield realms
    finally:
        run_in_background(_detach(session))  # a page that is loading is slow to answer


async def _detach(session: CDPSession) -> None:
    with suppress(PlaywrightError):  # the tab was closed in the meantime
        await session.detach()
