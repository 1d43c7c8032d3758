"""The headers of an answer that tell of the document: what an archive keeps of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_TELLING: Final = (
    "Content-Type",
    "Content-Language",
    "Content-Location",
    "Content-Disposition",
    "Date",
    "Last-Modified",
    "ETag",
    "Expires",
    "Cache-Control",
    "Vary",
    "Link",
    "Server",
    "X-Robots-Tag",
)
"""Others may hold what is meant for one reader: cookies, tokens, the name of a session."""


def described(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Give the headers that tell of the document, each on one line."""
    return tuple((name, " ".join(headers[name].split())) for name in _TELLING if name in headers)
