"""Redacting secrets in texts, in any common encoding, also while a text is streamed.

The secrets are the values of environment variables named like keys and passwords, among them the
keys of the models. No page, model or log needs them.
"""

from __future__ import annotations

import base64
import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MARK = "[redacted]"
SHORTEST = 8
"""Least characters of a secret: shorter values occur in ordinary text by chance."""
_SECRET_NAME = re.compile(
    r"(?i)(?:^|_)(?:api_?)?(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|pat)(?:_|$)"
)
_HARMLESS = re.compile(r"[a-z]+|[A-Z][a-z]+|[A-Z]+|[\d.]+|/.*|.* .*", re.DOTALL)
"""A word, a number, a path, a sentence: values of such variables that are no secrets."""


def find_secrets(environ: Mapping[str, str]) -> list[str]:
    """Return the values of variables that are named like secrets."""
    return [
        value
        for name, value in environ.items()
        if _SECRET_NAME.search(name) and len(value) >= SHORTEST and not _HARMLESS.fullmatch(value)
    ]


class Redactor:
    """Replaces secrets in texts by a mark."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._set_spellings(form for secret in secrets for form in spellings(secret))

    def _set_spellings(self, forms: Iterable[str]) -> None:
        # The longest first, so that a secret is matched whole where another one is its beginning.
        self._spellings = sorted(set(forms), key=len, reverse=True)
        for cached in ("_pattern", "_beginnings"):
            self.__dict__.pop(cached, None)

    def add(self, secret: str) -> None:
        """Add one more secret, however short."""
        self._set_spellings([*self._spellings, secret, *spellings(secret)])

    def text(self, text: str) -> str:
        """Return a text with secrets redacted."""
        # Searching for each spelling is far faster than the pattern, which is hardly ever needed.
        found = any(form in text for form in self._spellings)
        return self._pattern.sub(MARK, text) if found else text

    def value(self, value: Any) -> Any:
        """Return JSON data with secrets redacted in all of its texts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def safe_until(self, text: str) -> int:
        """Return up to where the beginning of a longer text can be shown.

        What follows could be the beginning of a secret.
        """
        longest = max(map(len, self._spellings), default=1)
        ends = range(max(0, len(text) - longest + 1), len(text))
        start = next((at for at in ends if text[at:] in self._beginnings), len(text))
        # The cut must not split a secret that is complete already.
        for match in self._pattern.finditer(text):
            if match.start() < start < match.end():
                return match.start()
        return start

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self._spellings)))

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(form[:end] for form in self._spellings for end in range(1, len(form)))


class StreamRedactor:
    """Redacts a streamed text; what could be the beginning of a secret is held back."""

    def __init__(self, redactor: Redactor, on_text: Callable[[str | None], None]) -> None:
        self._redactor = redactor
        self._on_text = on_text
        self._held = ""

    def __call__(self, piece: str | None) -> None:
        """Add a piece; None starts over."""
        if piece is None:
            self._held = ""
            self._on_text(None)
        else:
            text = self._held + piece
            self._pass_on(text, self._redactor.safe_until(text))

    def end(self) -> None:
        """Pass on what was held back: the text is complete."""
        self._pass_on(self._held, len(self._held))

    def _pass_on(self, text: str, safe: int) -> None:
        self._held = text[safe:]
        if safe:
            self._on_text(self._redactor.text(text[:safe]))


def spellings(secret: str) -> set[str]:
    """Return a secret plainly, in URL and JSON encoding, in hex, and in base64.

    Base64 has three alignments, by the position of the secret in the encoded text.
    """
    raw = secret.encode()
    forms = {
        secret,
        quote(secret, safe=""),
        quote(secret, safe="").lower(),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        raw.hex(),
        raw.hex().upper(),
    }
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw).decode().rstrip("=")
        # Some bits of the first and last characters belong to the text around the secret.
        end = len(encoded) if (offset + len(raw)) % 3 == 0 else len(encoded) - 1
        inner = encoded[(0, 2, 3)[offset] : end]
        forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return {form for form in forms if len(form) >= SHORTEST}
