"""HTTP authentication (Basic, Digest): shows the page behind it, or the one that refuses it."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from playwright.async_api import Error as PlaywrightError

from browser.net.url import origin
from browser.page.waiting import in_background

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Page


class HttpLogin(NamedTuple):
    """What a site is given when it asks for HTTP authentication."""

    user: str
    password: str


@asynccontextmanager
async def answered(page: Page, url: str, login: HttpLogin | None) -> AsyncIterator[list[str]]:
    """Answer the origin of `url` once with `login` while the body runs, and decline all else.

    A document that is declined comes with the page that the site shows then; without an answer it
    would not come at all. Afterwards the browser keeps what was accepted for that origin. Gives the
    names of the realms that asked.
    """
    session = await page.context.new_cdp_session(page)
    realms: list[str] = []
    given = set[str]()

    async def send(method: str, request: str, **more: Any) -> None:
        with suppress(PlaywrightError):  # the request went away
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
        in_background(send("Fetch.continueWithAuth", request, authChallengeResponse=reply))

    def go_on(event: dict[str, Any]) -> None:
        in_background(send("Fetch.continueRequest", event["requestId"]))

    session.on("Fetch.authRequired", answer)
    session.on("Fetch.requestPaused", go_on)
    documents = {"patterns": [{"resourceType": "Document"}], "handleAuthRequests": True}
    await session.send("Fetch.enable", documents)
    try:
        yield realms
    finally:
        with suppress(PlaywrightError):  # the tab closed meanwhile
            await session.detach()
