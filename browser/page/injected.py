"""The JavaScript library that runs inside pages, and functions that call it.

The files in `js/` are joined into one closure. It is installed in every frame before the page's
scripts run; in a document that was already open, it is installed at the first call. The page cannot
find it: it is a global constant with a random name, not a property of the window.

Closed shadow roots that were created without the library (by the page's HTML, or before the library
was installed) are fetched through DevTools, one host at a time.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from playwright.async_api import Error as PlaywrightError

from browser.captchas import SOLVABLE

if TYPE_CHECKING:
    from playwright.async_api import Frame, JSHandle, Page

T = TypeVar("T")

LIBRARY_FILES = (
    "hooks dom visibility roles appearance clickable refs pointer fields scroll lines tables walk "
    "changes rendered consent captcha marks"
).split()
"""The files in `js/`, in the order of their dependencies."""

MAX_CONTEXT_CHARS = 100_000  # maximum length of a page's visible text or selection, in characters
_NAME = f"u{secrets.token_hex(8)}"
_LATE_SYMBOL = f"Symbol.for('{_NAME}')"
_MISSING = "urchin-library-missing"


def _read(name: str) -> str:
    return resources.files("browser.page").joinpath("js", f"{name}.js").read_text("utf-8")


CONSTANTS = f"const CAPTCHAS = {json.dumps([row._asdict() for row in SOLVABLE])};"
"""The tables that the library has in common with Python code, as a line of JavaScript."""
_DEFINITIONS = "\n".join(["'use strict';", CONSTANTS, *map(_read, LIBRARY_FILES)])
_LIBRARY = f"(() => {{ {_DEFINITIONS}\n{_read('library')}\nreturn library; }})()"

SOURCE = f"}})();\nconst {_NAME} = {_LIBRARY};\n(() => {{"
"""The init script for each of our contexts and pages.

Playwright wraps an init script in a function. This script ends that function and begins another, so
that its constant is global: scripts can use it if they know the name, but cannot list it.
"""

# For the user's own tabs: the definitions alone install no hooks and leave no trace.
CONTEXT_EXPRESSION = (
    f"(() => {{ {_DEFINITIONS}\nreturn asJSON(context({{ limit: {MAX_CONTEXT_CHARS} }})); }})()"
)
SUSPECTS_EXPRESSION = f"(() => {{ {_DEFINITIONS}\nreturn suspects(true); }})()"

_CALL = (
    f"([name, argument, late]) => {{ const library = typeof {_NAME} === 'object' ? {_NAME} : late;"
    f" if (!library) throw new Error('{_MISSING}'); return library[name](argument); }}"
)
_late_libraries: WeakKeyDictionary[Frame, JSHandle] = WeakKeyDictionary()
"""The libraries of documents that were already open, by frame; only these handles refer to them."""


async def call(frame: Frame, name: str, argument: object = None) -> Any:
    """Call a function of the library in a frame; its result must be JSON."""
    return await _with_library(frame, frame.evaluate, [name, argument])


async def call_handle(frame: Frame, name: str, argument: object) -> JSHandle:
    """Call a function of the library and return a handle to its result, which stays in the page."""
    return await _with_library(frame, frame.evaluate_handle, [name, argument])


async def _with_library(
    frame: Frame, evaluate: Callable[[str, Any], Awaitable[T]], call: list[object]
) -> T:
    try:
        return await evaluate(_CALL, call)
    except PlaywrightError as error:
        if _MISSING not in error.message:
            raise
    return await evaluate(_CALL, [*call, await _late_library(frame)])


async def _late_library(frame: Frame) -> JSHandle:
    """Return the library of a document that was already open; the first call installs it."""
    if library := _late_libraries.get(frame):
        with suppress(PlaywrightError):  # the handle belongs to the frame's previous document
            await library.evaluate("library => 0")
            return library
    _late_libraries[frame] = library = await frame.evaluate_handle(_LIBRARY)
    return library


Send = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Sends a DevTools command (method, parameters) to one page and returns its result."""
# The group of the remote objects that a search creates, so that they can be released together.
_OBJECT_GROUP = {"objectGroup": "closed-roots"}
_LIBRARY_EXPRESSION = f"(typeof {_NAME} === 'object' ? {_NAME} : globalThis[{_LATE_SYMBOL}])"
_ADOPT_FUNCTION = f"function (root) {{ {_LIBRARY_EXPRESSION}.adopt(this, root); }}"
_VISIBLE_TEXT = """function () {
  const shown = [...this.children].filter((child) => child.getClientRects().length);
  return shown.map((child) => child.innerText ?? '').join('\\n').trim();
}"""


async def adopt_closed_roots(page: Page) -> bool:
    """Pass the closed roots of likely hosts to the page's library; False if there are none."""
    session = await page.context.new_cdp_session(page)
    late = _late_libraries.get(page.main_frame)
    try:
        if late:  # DevTools cannot use Playwright's handles, only properties of the window
            await late.evaluate(f"library => {{ globalThis[{_LATE_SYMBOL}] = library; }}")
        roots = await _closed_roots(session.send, f"{_LIBRARY_EXPRESSION}.suspects()")
        for host, root in roots:
            call = {
                "functionDeclaration": _ADOPT_FUNCTION,
                "objectId": host,
                "arguments": [{"objectId": root}],
            }
            await session.send("Runtime.callFunctionOn", call)
        await session.send("Runtime.releaseObjectGroup", _OBJECT_GROUP)
    finally:
        if late:
            with suppress(PlaywrightError):  # the document no longer exists
                await late.evaluate(f"() => delete globalThis[{_LATE_SYMBOL}]")
        await session.detach()
    return bool(roots)


async def closed_text(send: Send) -> str:
    """Read the visible text of closed roots in a page without our library."""
    texts = []
    for _, root in await _closed_roots(send, SUSPECTS_EXPRESSION):
        call = {"functionDeclaration": _VISIBLE_TEXT, "objectId": root, "returnByValue": True}
        result = (await send("Runtime.callFunctionOn", call))["result"]
        texts.append(str(result.get("value", "")))
    await send("Runtime.releaseObjectGroup", _OBJECT_GROUP)
    return "\n".join(filter(None, texts))


async def _closed_roots(send: Send, expression: str) -> list[tuple[str, str]]:
    """Find the closed roots of the elements in the array that an expression returns.

    Returns pairs of remote object ids: the host's and the root's.
    """
    array = (await send("Runtime.evaluate", {"expression": expression, **_OBJECT_GROUP}))["result"]
    if "objectId" not in array:
        return []
    query = {"objectId": array["objectId"], "ownProperties": True}
    properties = (await send("Runtime.getProperties", query))["result"]
    hosts = [item["value"]["objectId"] for item in properties if item["name"].isdigit()]
    roots = await asyncio.gather(*(_closed_root(send, host) for host in hosts))
    return [(host, root) for host, root in zip(hosts, roots, strict=True) if root]


async def _closed_root(send: Send, host: str) -> str | None:
    node = (await send("DOM.describeNode", {"objectId": host}))["node"]
    for root in node.get("shadowRoots", ()):
        if root["shadowRootType"] == "closed":
            query = {"backendNodeId": root["backendNodeId"], **_OBJECT_GROUP}
            return str((await send("DOM.resolveNode", query))["object"]["objectId"])
    return None
