"""Developer tools for a page: console messages, network requests, viewport, media emulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionError
from browser.page.driver import ACT_SECONDS, LOOK_SECONDS
from browser.page.waiting import keep_rendering, within
from browser.text.words import truncate

if TYPE_CHECKING:
    from playwright.async_api import Request

    from browser.page.tab import Tab

PAGE_RESOURCES: Final = frozenset({"image", "font", "stylesheet", "script", "media", "manifest"})
"""Types of static resources; `requests` lists them only with `static`."""
SECRET_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization", "set-cookie"})
"""Headers that contain credentials; their values are not shown."""
MAX_BODY_CHARS: Final = 4_000
"""Maximum number of characters shown of a request or response body."""
# Levels by the console's message types; all other types are `debug`.
_LEVELS: Final = {
    "log": "info", "info": "info", "assert": "error", "error": "error", "warning": "warning",
}  # fmt: skip


async def console(tab: Tab) -> list[tuple[str, str]]:
    """Return the page's last console messages and errors as (level, text).

    Levels are debug, info, warning and error.
    """
    async with within(LOOK_SECONDS, "read the console"):
        messages = await tab.page.console_messages()
        errors = await tab.page.page_errors()
    rows = [(_LEVELS.get(message.type, "debug"), message.text) for message in messages]
    return rows + [("error", str(error)) for error in errors]


async def requests(tab: Tab, *, static: bool = False) -> list[str]:
    """List the page's last requests: number, method, address, status.

    With `static`, requests for images, styles, scripts and the like are included.
    """
    async with within(LOOK_SECONDS, "list the requests"):
        made = await tab.page.requests()
    return [
        _line(number, request)
        for number, request in enumerate(made, 1)
        if static or request.resource_type not in PAGE_RESOURCES
    ]


async def request(tab: Tab, number: int, part: str | None = None) -> str:
    """Show the request with this number in `requests`: all headers, or one part.

    Parts are `request-headers`, `request-body`, `response-headers`, `response-body`. Raises
    ActionError if there is no such request or part.
    """
    async with within(LOOK_SECONDS, "read the request"):
        made = await tab.page.requests()
        if not 1 <= number <= len(made):
            raise ActionError(
                f"there is no request {number}",
                hint="`browser_network_requests` lists the requests with their numbers.",
            )
        chosen = made[number - 1]
        response = await chosen.response() if chosen.existing_response else None
        if part and part.startswith("response") and response is None:
            raise ActionError(f"the request has no response: {_status(chosen)}")
        if part == "request-body":
            return truncate(chosen.post_data or "", MAX_BODY_CHARS)
        if part == "response-body" and response is not None:
            try:
                return truncate((await response.body()).decode("utf-8", "replace"), MAX_BODY_CHARS)
            except PlaywrightError as error:
                raise ActionError("the browser no longer has the response's body") from error
        request_headers = _headers(await chosen.headers_array())
        response_headers = _headers(await response.headers_array()) if response else ""
    if part:
        return request_headers if part == "request-headers" else response_headers
    lines = [_line(number, chosen), "Request headers", request_headers]
    if response_headers:
        lines += ["Response headers", response_headers]
    return "\n".join(lines)


async def resize(tab: Tab, width: int, height: int) -> None:
    """Change the page's viewport size, in pixels."""
    tab.driver.check_alive()
    async with within(ACT_SECONDS, "resize the window"):
        await tab.page.set_viewport_size({"width": width, "height": height})


async def emulate_media(tab: Tab, **features: Any) -> None:
    """Emulate media features, named as in Playwright's `emulate_media`; "null" turns one off."""
    tab.driver.check_alive()
    async with within(ACT_SECONDS, "change the media"):
        await tab.page.emulate_media(**features)
        async with keep_rendering(tab.page):  # media queries take effect in the next frame
            await tab.page.evaluate("() => new Promise(requestAnimationFrame)")


def _line(number: int, request: Request) -> str:
    return f"{number}. {request.method} {request.url} {_status(request)}"


def _status(request: Request) -> str:
    response = request.existing_response
    return str(response.status) if response else request.failure or "no response yet"


def _headers(rows: Any) -> str:
    return "\n".join(
        f"{row['name']}: {'(hidden)' if row['name'].lower() in SECRET_HEADERS else row['value']}"
        for row in rows
    )
