"""What a request is made of: headers laid over ours, parameters in the query, an encoded body."""

from __future__ import annotations

import json as jsonlib
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from browser.net.url import parse

if TYPE_CHECKING:
    from collections.abc import Mapping


def merged(ours: Mapping[str, str], given: Mapping[str, str] | None) -> dict[str, str]:
    """Lay the caller's headers over ours, whatever their case."""
    overridden = {name.lower() for name in given or ()}
    return {k: v for k, v in ours.items() if k.lower() not in overridden} | dict(given or {})


def with_params(url: str, params: Mapping[str, str] | None) -> str:
    """Add parameters to what the URL's query already holds."""
    parsed = parse(url)
    if parsed is None or not params:
        return parsed.href if parsed else url
    head = parsed.href.removesuffix(parsed.fragment).rstrip("?&")
    return f"{head}{'&' if parsed.query else '?'}{urlencode(params)}"


def encoded(json: object, form: Mapping[str, str] | None) -> tuple[str, bytes]:
    """Give the content type and the bytes of a form, or else of JSON."""
    if form is not None:
        return "application/x-www-form-urlencoded", urlencode(form).encode()
    return "application/json", jsonlib.dumps(json).encode()
