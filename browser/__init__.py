"""Reads the web and returns typed data. This package never imports `agent`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from browser.session.session import Browser

__all__ = ["Browser"]


def __getattr__(name: str) -> object:
    """Import the real browser only when needed: importing Playwright takes a third of a second."""
    if name == "Browser":
        from browser.session.session import Browser  # noqa: PLC0415 - see above

        return Browser
    raise AttributeError(name)
