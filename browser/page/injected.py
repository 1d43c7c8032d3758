"""The JavaScript that runs inside pages, and the bridge to it.

The files in `js/` make one closure. It is installed before a page's own scripts, in every frame;
where that was not possible (a document that was there before us) at the first call. The page sees
one symbol on its window and no change in its DOM.

Closed shadow roots that no script could open (written in the page's markup, or made before we were
attached) are asked for over DevTools, host by host.
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
"""The files of `js/` that make the library, in the order in which they build on each other."""

CONTEXT_LIMIT = 100_000  # characters of a page's visible text or selection
# Unguessable, so that a page cannot wait for it by name.
_KEY = f"Symbol.for('u{secrets.token_hex(8)}')"
_MISSING = "urchin-library-missing"


def _read(name: str) -> str:
    return resources.files("browser.page").joinpath("js", f"{name}.js").read_text("utf-8")


_DEFINITIONS = "'use strict';\n" + "\n".join(map(_read, LIBRARY_FILES))

SOURCE = (
    f"(() => {{ if (globalThis[{_KEY}]) return;\n{_DEFINITIONS}\n{_read('library')}\n"
    f"Object.defineProperty(globalThis, {_KEY}, {{ value: library }}); }})()"
)
"""The init script, to be added to each context or page that is ours."""

# For tabs that are not ours: the definitions alone watch nothing and leave nothing behind.
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
    """Call a function whose result stays in the page."""
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
"""Sends a DevTools command of one page and gives its result."""
_GROUP = {"objectGroup": "closed-roots"}
_ADOPT = f"function (root) {{ globalThis[{_KEY}].adopt(this, root); }}"
_TEXT = """function () {
  const shown = [...this.children].filter((child) => child.getClientRects().length);
  return shown.map((child) => child.innerText ?? '').join('\\n').trim();
}"""


async def adopt_closed_roots(page: Page) -> bool:
    """Give the page's library the closed roots of what it suspects; True where there were any."""
    session = await page.context.new_cdp_session(page)
    try:
        found = await _closed_roots(session.send, f"globalThis[{_KEY}].suspects()")
        for host, root in found:
            arguments = [{"objectId": root}]
            asked = {"functionDeclaration": _ADOPT, "objectId": host, "arguments": arguments}
            await session.send("Runtime.callFunctionOn", asked)
        await session.send("Runtime.releaseObjectGroup", _GROUP)
    finally:
        await session.detach()
    return bool(found)


async def closed_text(send: Send) -> str:
    """Read what closed roots show, of a page that our library is not in."""
    texts = []
    for _, root in await _closed_roots(send, SUSPECTS_EXPRESSION):
        asked = {"functionDeclaration": _TEXT, "objectId": root, "returnByValue": True}
        texts.append(str((await send("Runtime.callFunctionOn", asked))["result"].get("value", "")))
    await send("Runtime.releaseObjectGroup", _GROUP)
    return "\n".join(filter(None, texts))


async def _closed_roots(send: Send, suspects: str) -> list[tuple[str, str]]:
    """Find the closed roots among the elements that an expression lists.

    Gives the ids of remote objects, host and root.
    """
    listed = (await send("Runtime.evaluate", {"expression": suspects, **_GROUP}))["result"]
    if "objectId" not in listed:
        return []
    wanted = {"objectId": listed["objectId"], "ownProperties": True}
    rows = (await send("Runtime.getProperties", wanted))["result"]
    hosts = [row["value"]["objectId"] for row in rows if row["name"].isdigit()]
    roots = await asyncio.gather(*(_closed_root(send, host) for host in hosts))
    return [(host, root) for host, root in zip(hosts, roots, strict=True) if root]


async def _closed_root(send: Send, host: str) -> str | None:
    node = (await send("DOM.describeNode", {"objectId": host}))["node"]
    for root in node.get("shadowRoots", ()):
        if root["shadowRootType"] == "closed":
            asked = {"backendNodeId": root["backendNodeId"], **_GROUP}
            return str((await send("DOM.resolveNode", asked))["object"]["objectId"])
    return None
