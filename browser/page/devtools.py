"""What a developer looks at beside a page: its console and its requests; sizes and media to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionError
from browser.page.driver import ACT_SECONDS, LOOK_SECONDS
from browser.page.waiting import drawing, within

if TYPE_CHECKING:
    from playwright.async_api import Request

    from browser.page.tab import Tab

PAGE_PARTS: Final = frozenset({"image", "font", "stylesheet", "script", "media", "manifest"})
"""Kinds of requests that bring what a page is made of."""
SECRET_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization", "set-cookie"})
"""Headers that let others in."""
LONGEST_BODY: Final = 4_000
"""Characters."""
_LEVELS: Final = {"log": "info", "assert": "error", "error": "error", "warning": "warning"}


async def console(tab: Tab) -> list[tuple[str, str]]:
    """Give what the page wrote to the console last: level (debug, info, warning, error), text."""
    async with within(LOOK_SECONDS, "read the console"):
        said = [(m.type, m.text) for m in await tab.page.console_messages()]
        errors = [("error", str(error)) for error in await tab.page.page_errors()]
    known = ((_LEVELS.get(kind, kind if kind == "info" else "debug"), text) for kind, text in said)
    return [*known, *errors]


async def requests(tab: Tab, *, static: bool = False) -> list[str]:
    """List the page's last requests: number, method, address, status; what it is made of, too."""
    async with within(LOOK_SECONDS, "list the requests"):
        made = await tab.page.requests()
    listed = [
        (number, request)
        for number, request in enumerate(made, 1)
        if static or request.resource_type not in PAGE_PARTS
    ]
    return [_line(number, request) for number, request in listed]


async def request(tab: Tab, number: int, part: str | None = None) -> str:
    """Give a request by its number in `requests`: its headers, or the part that is named.

    Parts are `request-headers`, `request-body`, `response-headers`, `response-body`. Raises
    ActionError where there is no such request or part.
    """
    async with within(LOOK_SECONDS, "read the request"):
        made = await tab.page.requests()
        if not 1 <= number <= len(made):
            raise ActionError(f"there is no request {number}", hint="The list shows their numbers.")
        asked = made[number - 1]
        answer = await asked.response() if asked.existing_response else None
        if part and part.startswith("response") and answer is None:
            raise ActionError(f"it has no answer: {_status(asked)}")
        if part == "request-body":
            return _cut(asked.post_data or "")
        if part == "response-body" and answer is not None:
            try:
                return _cut((await answer.body()).decode("utf-8", "replace"))
            except PlaywrightError as error:
                raise ActionError("its body is not kept by the browser any more") from error
        sent = _headers(await asked.headers_array())
        got = _headers(await answer.headers_array()) if answer else ""
    if part:
        return sent if part == "request-headers" else got
    parts = [_line(number, asked), "Request headers", sent]
    return "\n".join([*parts, "Response headers", got] if got else parts)


async def resize(tab: Tab, width: int, height: int) -> None:
    """Give the page another size, in pixels."""
    tab.check_alive()
    async with within(ACT_SECONDS, "resize the window"):
        await tab.page.set_viewport_size({"width": width, "height": height})


async def emulate_media(tab: Tab, **features: Any) -> None:
    """Show the page by other media features, as Playwright names them; "null" ends one."""
    tab.check_alive()
    async with within(ACT_SECONDS, "change the media"):
        await tab.page.emulate_media(**features)
        async with drawing(tab.page):  # the page hears of it with its next frame
            await tab.page.evaluate("() => new Promise(requestAnimationFrame)")


def _line(number: int, request: Request) -> str:
    return f"{number}. {request.method} {request.url} {_status(request)}"


def _status(request: Request) -> str:
    answer = request.existing_response
    return str(answer.status) if answer else request.failure or "no answer yet"


def _headers(rows: Any) -> str:
    return "\n".join(
        f"{row['name']}: {'(kept back)' if row['name'].lower() in SECRET_HEADERS else row['value']}"
        for row in rows
    )


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_BODY else f"{text[:LONGEST_BODY]}…"
