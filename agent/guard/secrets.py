"""Private tokens that must not leave through an address, a search or a form.

What a run knows privately (memory, files, environment) may hold keys, passwords and numbers. A
page can tell a model to send them away; whether the model obeys is not relied upon. A token that
stands in the person's own question may be used: they asked for it.
"""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHORTEST = 6
"""Below six characters a token is found in ordinary text by chance."""
_SHORTEST_NAMED = 4
"""What is called a password or a PIN is one, however short."""
_TOKEN = re.compile(r"[^\s\"'`<>(){}\[\],;]{6,200}")
_NAMED = re.compile(
    r"(?i)\b(?:pass(?:word|phrase|code)?|secret|token|api[ _-]?key|pin|credential|private[ _-]?key)"
    r"\b[^\n:=]{0,20}[:=]?\s*(?:is\s+)?[\"'`]?([^\s\"'`,;]{4,200})"
)
_SECRET_NAME = re.compile(r"(?i)key|token|secret|passw|credential|auth")
_LAYERS = 3
"""Times that percent-encoding is undone."""
_SEPARATORS = re.compile(r"[^0-9a-z]+")


class Secrets:
    """The private tokens of a run, and whether a text that is about to leave holds one."""

    def __init__(self, question: str = "") -> None:
        self._asked = _plain(question)
        self._tokens: dict[str, str] = {}

    def add_text(self, text: str) -> None:
        """Take up what looks like a key, a password or a number of one's own in a private text."""
        found = [m[0].strip(".:!?") for m in _TOKEN.finditer(text) if _looks_secret(m[0])]
        found += [m[1].strip(".!?") for m in _NAMED.finditer(text)]
        for token in found:
            self._add(token)

    def add_environment(self, environ: Mapping[str, str]) -> None:
        """Take up the values of variables that are named like secrets."""
        for name, value in environ.items():
            if _SECRET_NAME.search(name) and len(value) >= _SHORTEST:
                self._add(value)

    def leaks(self, text: str) -> str | None:
        """Find a private token in a text, however it is spelt; gives it shortened."""
        said = " ".join(_plain(form) for form in _decoded(text))
        for token, shown in self._tokens.items():
            if any(spelling in said for spelling in _spellings(token)):
                return shown
        return None

    def _add(self, token: str) -> None:
        plain = _plain(token)
        if len(plain) >= _SHORTEST_NAMED and plain not in self._asked:
            self._tokens[token] = token[:3] + "…"


def _looks_secret(token: str) -> bool:
    """Long, with letters and digits mixed, or digits in bulk: no word, no year, no address."""
    if "://" in token or token.count("/") > 2:
        return False
    core = _plain(token)
    digits = sum(char.isdigit() for char in core)
    letters = len(core) - digits
    mixed = digits >= 2 and letters >= 2 and len(core) >= 8
    return mixed or digits >= 9


def _plain(text: str) -> str:
    return _SEPARATORS.sub("", text.lower())


def _decoded(text: str) -> list[str]:
    """The text as it is, and percent-decoded as often as anybody would undo it."""
    forms = [text]
    for _ in range(_LAYERS):
        forms.append(unquote_plus(forms[-1]))
    return forms


@lru_cache(maxsize=1024)
def _spellings(token: str) -> tuple[str, ...]:
    """The token plain, backwards, in hex, and in base64 at each of the three alignments."""
    raw = token.encode()
    forms = [token, token[::-1], raw.hex()]
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw).decode().rstrip("=")
        # The first and last characters of a piece also depend on what stands beside it.
        forms.append(encoded[offset + (offset > 0) : len(encoded) - 1])
    return tuple(plain for form in forms if len(plain := _plain(form)) >= _SHORTEST_NAMED)
