"""What a setting names and nobody here has: looked for among the plug-ins."""

from __future__ import annotations

from typing import Any

from agent.errors import UsageError
from browser.plugins import PluginBroken, load_plugin


def plugged(kind: str, name: str) -> Any:
    """Load the plug-in of this name; None where there is none. Raises `UsageError`."""
    try:
        return load_plugin(kind, name)
    except PluginBroken as error:
        raise UsageError(str(error), hint=error.hint) from error


def made(kind: str, name: str, *given: object) -> Any:
    """Load a plug-in and call what it names; None where there is none. Raises `UsageError`."""
    make = plugged(kind, name)
    try:
        return make(*given) if make is not None else None
    # A package of somebody else's may fail in any way.
    except Exception as error:
        raise UsageError(f"the {kind} plug-in {name!r} cannot be made: {error}") from error
