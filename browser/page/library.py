"""The JavaScript that runs inside pages, and the bridge to it.

The parts in `js/` make one closure. It is installed before a page's own scripts, in every frame;
where that was not possible (a document that was there before us) at the first call. The page sees
one symbol on its window and no change in its DOM.
"""

from __future__ import annotations

import json
import secrets
from importlib import resources
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

if TYPE_CHECKING:
    from playwright.async_api import Frame, JSHandle

# Unguessable, so that a page cannot wait for it by name.
_KEY = f"Symbol.for('u{secrets.token_hex(8)}')"
CONTEXT_LIMIT = 100_000  # characters of a page's visible text or selection
_MISSING = "urchin-library-missing"


def _parts(*prefixes: str) -> str:
    """The files of `js/` whose names begin so, in order; without prefixes all of them."""
    folder = resources.files("browser.page") / "js"
    parts = sorted(folder.iterdir(), key=lambda part: part.name)
    return "\n".join(
        part.read_text("utf-8")
        for part in parts
        if part.name.endswith(".js") and part.name.startswith(prefixes or "")
    )


SOURCE = (
    f"(() => {{ 'use strict'; if (globalThis[{_KEY}]) return;\n{_parts()}\n"
    f"Object.defineProperty(globalThis, {_KEY}, {{ value: library }}); }})()"
)
"""The init script, to be added to each context or page that is ours."""

# Reads a tab that is not ours, and leaves nothing behind in it.
CONTEXT_EXPRESSION = (
    f"(() => {{ 'use strict';\n{_parts('00', '20', '30', '34', '50', '80')}\n"
    f"return asJSON(context({{limit: {CONTEXT_LIMIT}}})); }})()"
)

# Lists, in a tab that is not ours, what may hide a closed shadow root.
SUSPECTS_EXPRESSION = (
    "(() => { 'use strict'; const shadowOf = (element) => element.shadowRoot;\n"
    f"{_parts('12')}\n"
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
