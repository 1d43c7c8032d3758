"""Taking secrets out of a text, however they are spelt, also where it comes in pieces.

The secrets are the values that the environment holds under names of keys and passwords, and the
keys of the models: no page, model or log has a use for them.
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
"""Characters: a shorter value is found in ordinary text by chance."""
_SECRET_NAME = re.compile(
    r"(?i)(?:^|_)(?:api_?)?(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|pat)(?:_|$)"
)
_HARMLESS = re.compile(r"[a-z]+|[A-Z][a-z]+|[A-Z]+|[\d.]+|/.*|.* .*", re.DOTALL)
"""A word, a number, a path, a sentence: what such variables hold that are no secrets."""


def find_secrets(environ: Mapping[str, str]) -> list[str]:
    """Find the values of variables that are named like secrets."""
    return [
        value
        for name, value in environ.items()
        if _SECRET_NAME.search(name) and len(value) >= SHORTEST and not _HARMLESS.fullmatch(value)
    ]


class Redactor:
    """Knows secrets, and takes them out of texts."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._know(form for secret in secrets for form in spellings(secret))

    def _know(self, forms: Iterable[str]) -> None:
        self._spellings = sorted(set(forms), key=len, reverse=True)
        for derived in ("_pattern", "_beginnings"):
            self.__dict__.pop(derived, None)

    def add(self, secret: str) -> None:
        """Add one more secret, however short."""
        self._know([*self._spellings, secret, *spellings(secret)])

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        # Looking for each is faster by far than looking for any, and there is hardly ever one.
        found = any(form in text for form in self._spellings)
        return self._pattern.sub(MARK, text) if found else text

    def value(self, value: Any) -> Any:
        """Return JSON data without secrets in any of its texts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def safe_until(self, text: str) -> int:
        """Say up to where the beginning of a longer text may be shown: a secret may begin there."""
        # The pieces end anywhere: the tail is held while it could still grow into a secret.
        longest = max(map(len, self._spellings), default=1)
        starts = range(max(0, len(text) - longest + 1), len(text))
        held = next((at for at in starts if text[at:] in self._beginnings), None)
        if held is None:
            return len(text)
        across = (m.start() for m in self._pattern.finditer(text) if m.start() < held < m.end())
        return next(across, held)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self._spellings)))

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(form[:end] for form in self._spellings for end in range(1, len(form)))


class StreamRedactor:
    """Passes on a text that comes in pieces; what may be the beginning of a secret is held back."""

    def __init__(self, redactor: Redactor, heard: Callable[[str | None], None]) -> None:
        self._redactor = redactor
        self._heard = heard
        self._held = ""

    def __call__(self, piece: str | None) -> None:
        """Take a piece; None begins anew."""
        if piece is None:
            self._held = ""
            self._heard(None)
        else:
            self._pass_on(self._held + piece, self._redactor.safe_until(self._held + piece))

    def end(self) -> None:
        """Pass on what was held back: it became no secret."""
        self._pass_on(self._held, len(self._held))

    def _pass_on(self, text: str, safe: int) -> None:
        self._held = text[safe:]
        if safe:
            self._heard(self._redactor.text(text[:safe]))


def spellings(secret: str) -> set[str]:
    """Spell a secret plainly, for URLs and JSON, in hex, and in base64 at its three alignments."""
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
        # Of the first and last characters some bits belong to what stands beside the secret.
        end = len(encoded) if (offset + len(raw)) % 3 == 0 else len(encoded) - 1
        inner = encoded[(0, 2, 3)[offset] : end]
        forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return {form for form in forms if len(form) >= SHORTEST}
