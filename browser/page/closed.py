"""Closed shadow roots that no script of ours could open: asked for over DevTools, host by host.

A root that the page's markup closes (`<template shadowrootmode="closed">`) never passes through
`attachShadow`, and one made before we were attached did so unseen. The protocol gives both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from browser.page import library

if TYPE_CHECKING:
    from playwright.async_api import Page

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
        found = await closed_roots(send, library.expression("suspects"))
        for host, root in found:
            await send(
                "Runtime.callFunctionOn",
                {
                    "functionDeclaration": library.function("adopt"),
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
