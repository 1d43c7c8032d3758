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
_PLAIN_WORD = re.compile(r"[a-z]+|[A-Z][a-z]+|[A-Z]+|[\d.]+")


def secrets_of(environ: Mapping[str, str]) -> list[str]:
    """Find the values of variables that are named like secrets; words and paths are none."""
    return [
        value
        for name, value in environ.items()
        if _SECRET_NAME.search(name) and len(value) >= SHORTEST and not _harmless(value)
    ]


class Redactor:
    """Knows secrets, and takes them out of texts."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._spellings = sorted(
            {form for secret in secrets for form in spellings(secret)}, key=len, reverse=True
        )

    def add(self, secret: str) -> None:
        """Know one more secret, however short."""
        forms = {*self._spellings, secret, *spellings(secret)}
        self._spellings = sorted(forms, key=len, reverse=True)
        for derived in ("_pattern", "_longest", "_beginnings"):
            self.__dict__.pop(derived, None)

    def text(self, text: str) -> str:
        """Give a text without secrets."""
        # Looking for each is faster by far than looking for any, and there is hardly ever one.
        found = any(form in text for form in self._spellings)
        return self._pattern.sub(MARK, text) if found else text

    def value(self, value: Any) -> Any:
        """Give JSON data without secrets in any of its texts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def pieces(self, heard: Callable[[str | None], None]) -> Pieces:
        """Pass pieces of a text on to `heard` without the secrets that they add up to."""
        return Pieces(self, heard)

    def safe_until(self, text: str) -> int:
        """Say up to where a text may be passed on: a secret may begin after that."""
        start = max(0, len(text) - self._longest + 1)
        held = next((at for at in range(start, len(text)) if text[at:] in self._beginnings), None)
        if held is None:
            return len(text)
        cut = (m.start() for m in self._pattern.finditer(text) if m.start() < held < m.end())
        return next(cut, held)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self._spellings)))

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._spellings), default=1)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(form[:end] for form in self._spellings for end in range(1, len(form)))


class Pieces:
    """A text that comes in pieces; what may be the beginning of a secret is held back."""

    def __init__(self, redactor: Redactor, heard: Callable[[str | None], None]) -> None:
        self._redactor = redactor
        self._heard = heard
        self._held = ""

    def __call__(self, piece: str | None) -> None:
        """Take a piece; None begins anew."""
        if piece is None:
            self._held = ""
            self._heard(None)
            return
        text = self._held + piece
        safe = self._redactor.safe_until(text)
        self._held = text[safe:]
        self._pass_on(text[:safe])

    def end(self) -> None:
        """Pass on what was held back: it became no secret."""
        self._pass_on(self._held)
        self._held = ""

    def _pass_on(self, text: str) -> None:
        if text:
            self._heard(self._redactor.text(text))


def spellings(secret: str) -> set[str]:
    """Spell a secret plainly, for URLs and JSON, in hex, and in base64 at its three alignments."""
    raw = secret.encode()
    plain = {
        secret,
        quote(secret, safe=""),
        quote(secret, safe="").lower(),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        raw.hex(),
        raw.hex().upper(),
    }
    coded = {form for offset in range(3) for form in _base64(raw, offset)}
    return {form for form in plain | coded if len(form) >= SHORTEST}


def _base64(raw: bytes, offset: int) -> tuple[str, str]:
    """Encode behind so many other bytes; characters that depend on what stands beside are left."""
    encoded = base64.b64encode(b"\0" * offset + raw).decode().rstrip("=")
    # Of the last character some bits belong to what follows, unless the bytes end just there.
    end = len(encoded) if (offset + len(raw)) % 3 == 0 else len(encoded) - 1
    inner = encoded[(0, 2, 3)[offset] : end]
    return inner, inner.replace("+", "-").replace("/", "_")


def _harmless(value: str) -> bool:
    """A word, a number, a path, or a sentence: what such variables hold that are no secrets."""
    return bool(_PLAIN_WORD.fullmatch(value)) or "/" in value[:1] or " " in value
