"""The JavaScript that runs inside pages, and the bridge to it.

The parts in `js/` make one closure. It is installed before a page's own scripts, in every frame;
where that was not possible (a document that was there before us) at the first call. The page sees
one symbol on its window and no change in its DOM.

Closed shadow roots that no script could open (written in the page's markup, or made before we were
attached) are asked for over DevTools, host by host.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

if TYPE_CHECKING:
    from playwright.async_api import Frame, JSHandle, Page


# Unguessable, so that a page cannot wait for it by name.
_KEY = f"Symbol.for('u{secrets.token_hex(8)}')"
CONTEXT_LIMIT = 100_000  # characters of a page's visible text or selection
_MISSING = "urchin-library-missing"


LIBRARY_FILES = (
    "natives watch closed_roots style roles looks shapes apart frameworks clickable hover refs aim "
    "fields text lines board walk settle flashes scroll visible context consent captcha "
    "marks export"
).split()
"""The files of `js/` that make the library, in the order in which they build on each other."""


def read_script(name: str) -> str:
    """The text of a file of `js/`."""
    return resources.files("browser.page").joinpath("js", f"{name}.js").read_text("utf-8")


def _joined(*names: str) -> str:
    return "\n".join(map(read_script, names))


SOURCE = (
    f"(() => {{ 'use strict'; if (globalThis[{_KEY}]) return;\n{_joined(*LIBRARY_FILES)}\n"
    f"Object.defineProperty(globalThis, {_KEY}, {{ value: library }}); }})()"
)
"""The init script, to be added to each context or page that is ours."""

# Reads a tab that is not ours, and leaves nothing behind in it.
CONTEXT_EXPRESSION = (
    "(() => { 'use strict'; const shadowOf = (element) => element.shadowRoot;\n"
    f"{_joined(*'natives style roles looks refs aim lines visible context'.split())}\n"
    f"return asJSON(context({{limit: {CONTEXT_LIMIT}}})); }})()"
)

# Lists, in a tab that is not ours, what may hide a closed shadow root.
SUSPECTS_EXPRESSION = (
    "(() => { 'use strict'; const shadowOf = (element) => element.shadowRoot;\n"
    f"{_joined('closed_roots')}\n"
    "for (const element of [...document.querySelectorAll('*')].slice(0, 5000))"
    " suspect(element, getComputedStyle(element));\nreturn suspects(); })()"
)

_CALL = (
    f"([name, argument]) => {{ const library = globalThis[{_KEY}];"
    f" if (!library) throw new Error('{_MISSING}'); return library[name](argument); }}"
)


def expression(name: str) -> str:
    """Write a call of the library as an expression, for what speaks DevTools itself."""
    return f"globalThis[{_KEY}].{name}()"


def function(name: str) -> str:
    """Write a function that calls the library with its object and one argument."""
    return f"function (argument) {{ return globalThis[{_KEY}].{name}(this, argument); }}"


async def call(frame: Frame, name: str, argument: object = None) -> Any:
    """Call a function of the library in a frame; its result must be JSON."""
    try:
        return await frame.evaluate(_CALL, [name, argument])
    except PlaywrightError as error:
        if _MISSING not in error.message:
            raise
    await frame.evaluate(SOURCE)
    return await frame.evaluate(_CALL, [name, argument])


async def call_json(frame: Frame, name: str, argument: object = None) -> Any:
    """Call a function that gives JSON text: much quicker than handing over large objects."""
    return json.loads(await call(frame, name, argument))


async def call_handle(frame: Frame, name: str, argument: object = None) -> JSHandle:
    """Call a function whose result stays in the page."""
    try:
        return await frame.evaluate_handle(_CALL, [name, argument])
    except PlaywrightError as error:
        if _MISSING not in error.message:
            raise
    await frame.evaluate(SOURCE)
    return await frame.evaluate_handle(_CALL, [name, argument])


Send = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Sends a DevTools command of one page and gives its result."""
_GROUP = "closed-roots"
_TEXT = """function () {
  const shown = [...this.children].filter((child) => child.getClientRects().length);
  return shown.map((child) => child.innerText ?? '').join('\\n').trim();
}"""


async def adopt_closed_roots(page: Page) -> bool:
    """Give the page's library the closed roots of what it suspects; True where there were any."""
    session = await page.context.new_cdp_session(page)

    async def send(method: str, params: dict[str, Any]) -> Any:
        return await session.send(method, params)

    try:
        found = await closed_roots(send, expression("suspects"))
        for host, root in found:
            await send(
                "Runtime.callFunctionOn",
                {
                    "functionDeclaration": function("adopt"),
                    "objectId": host,
                    "arguments": [{"objectId": root}],
                },
            )
        await send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})
    finally:
        await session.detach()
    return bool(found)


async def closed_roots(send: Send, suspects: str) -> list[tuple[str, str]]:
    """Find the closed roots among the elements that an expression lists.

    Gives pairs of remote objects, host and root.
    """
    asked = {"expression": suspects, "objectGroup": _GROUP}
    listed = (await send("Runtime.evaluate", asked))["result"].get("objectId")
    if listed is None:
        return []
    wanted = {"objectId": listed, "ownProperties": True}
    rows = (await send("Runtime.getProperties", wanted))["result"]
    hosts = [row["value"]["objectId"] for row in rows if row["name"].isdigit()]
    roots = await asyncio.gather(*(_root_of(send, host) for host in hosts))
    return [(host, root) for host, root in zip(hosts, roots, strict=True) if root]


async def closed_text(send: Send, suspects: str) -> str:
    """Read what closed roots show, of a page that our library is not in."""
    texts = []
    for _, root in await closed_roots(send, suspects):
        asked = {"functionDeclaration": _TEXT, "objectId": root, "returnByValue": True}
        texts.append(str((await send("Runtime.callFunctionOn", asked))["result"].get("value", "")))
    await send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})
    return "\n".join(text for text in texts if text)


async def _root_of(send: Send, host: str) -> str | None:
    node = (await send("DOM.describeNode", {"objectId": host}))["node"]
    for root in node.get("shadowRoots", ()):
        if root["shadowRootType"] == "closed":
            asked = {"backendNodeId": root["backendNodeId"], "objectGroup": _GROUP}
            return str((await send("DOM.resolveNode", asked))["object"]["objectId"])
    return None
