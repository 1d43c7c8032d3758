"""The JavaScript library that runs inside pages, and calls to it.

The files in `js/` are joined into one closure. It is installed in every frame before the page's own
scripts; in a document that was there before us, at the first call. The page sees one symbol on its
window and no change in its DOM.

Closed shadow roots that the script could not open (declared in the page's HTML, or made before it
was installed) are fetched over DevTools, host by host.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

from playwright.async_api import Error as PlaywrightError

if TYPE_CHECKING:
    from playwright.async_api import Frame, JSHandle, Page

T = TypeVar("T")

LIBRARY_FILES = (
    "hooks dom visibility roles appearance clickable refs pointer fields scroll lines walk changes "
    "rendered consent captcha marks"
).split()
"""The files of `js/` in the order in which they depend on each other."""

CONTEXT_LIMIT = 100_000  # characters of a page's visible text or selection
# Random, so that a page cannot look for our library by name.
_KEY = f"Symbol.for('u{secrets.token_hex(8)}')"
_MISSING = "urchin-library-missing"


def _read(name: str) -> str:
    return resources.files("browser.page").joinpath("js", f"{name}.js").read_text("utf-8")


_DEFINITIONS = "'use strict';\n" + "\n".join(map(_read, LIBRARY_FILES))

SOURCE = (
    f"(() => {{ if (globalThis[{_KEY}]) return;\n{_DEFINITIONS}\n{_read('library')}\n"
    f"Object.defineProperty(globalThis, {_KEY}, {{ value: library }}); }})()"
)
"""The init script for each context or page of ours."""

# For a person's own tabs: the definitions alone install no hooks and leave nothing behind.
CONTEXT_EXPRESSION = (
    f"(() => {{ {_DEFINITIONS}\nreturn asJSON(context({{ limit: {CONTEXT_LIMIT} }})); }})()"
)
SUSPECTS_EXPRESSION = f"(() => {{ {_DEFINITIONS}\nreturn suspects(true); }})()"

_CALL = (
    f"([name, argument]) => {{ const library = globalThis[{_KEY}];"
    f" if (!library) throw new Error('{_MISSING}'); return library[name](argument); }}"
)


async def call(frame: Frame, name: str, argument: object = None) -> Any:
    """Call a function of the library in a frame; its result must be JSON."""
    return await _with_library(frame, frame.evaluate, [name, argument])


async def call_handle(frame: Frame, name: str, argument: object = None) -> JSHandle:
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
    await frame.evaluate(SOURCE)
    return await evaluate(_CALL, call)


Send = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Sends a DevTools command (method, parameters) to one page and returns its result."""
# Releases all remote objects of one search at once.
_GROUP = {"objectGroup": "closed-roots"}
_ADOPT = f"function (root) {{ globalThis[{_KEY}].adopt(this, root); }}"
_VISIBLE_TEXT = """function () {
  const shown = [...this.children].filter((child) => child.getClientRects().length);
  return shown.map((child) => child.innerText ?? '').join('\\n').trim();
}"""


async def adopt_closed_roots(page: Page) -> bool:
    """Pass the closed roots of suspected hosts to the page's library; True if there were any."""
    session = await page.context.new_cdp_session(page)
    try:
        roots = await _closed_roots(session.send, f"globalThis[{_KEY}].suspects()")
        for host, root in roots:
            call = {
                "functionDeclaration": _ADOPT,
                "objectId": host,
                "arguments": [{"objectId": root}],
            }
            await session.send("Runtime.callFunctionOn", call)
        await session.send("Runtime.releaseObjectGroup", _GROUP)
    finally:
        await session.detach()
    return bool(roots)


async def closed_text(send: Send) -> str:
    """Read the visible text of closed roots in a page without our library."""
    texts = []
    for _, root in await _closed_roots(send, SUSPECTS_EXPRESSION):
        call = {"functionDeclaration": _VISIBLE_TEXT, "objectId": root, "returnByValue": True}
        result = (await send("Runtime.callFunctionOn", call))["result"]
        texts.append(str(result.get("value", "")))
    await send("Runtime.releaseObjectGroup", _GROUP)
    return "\n".join(filter(None, texts))


async def _closed_roots(send: Send, expression: str) -> list[tuple[str, str]]:
    """Find the closed roots of the elements in the array that an expression gives.

    Returns pairs of remote object ids: host and root.
    """
    array = (await send("Runtime.evaluate", {"expression": expression, **_GROUP}))["result"]
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
            query = {"backendNodeId": root["backendNodeId"], **_GROUP}
            return str((await send("DOM.resolveNode", query))["object"]["objectId"])
    return None
