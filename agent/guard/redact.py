"""Redacts secrets in text, including streamed text, in any common encoding.

The secrets are the values of environment variables whose names suggest keys or passwords, including
the model keys. Pages, models and logs do not need these values.
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

PLACEHOLDER = "[redacted]"
MIN_SECRET_CHARS = 8
"""Minimum length in characters of a secret from the environment, and of one that is redacted inside
words: shorter ones occur by chance."""
_SECRET_NAME = re.compile(
    r"(?i)(?:^|_)(?:api_?)?(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|pat)(?:_|$)"
)
_NON_SECRET_RE = re.compile(r"[a-z]+|[A-Z][a-z]+|[A-Z]+|[\d.]+|/.*|.* .*", re.DOTALL)
"""Matches values of such variables that are not secret: words, numbers, paths and sentences."""
_LETTER = r"[^\W_]"
_TOKEN_START = rf"(?:(?<!{_LETTER})|(?<=%[0-9A-Fa-f]{{2}})|(?<=\\[nrt]))"
"""Matches the start of a token, also after an escaped character in a URL or in JSON."""
_TOKEN_CONTEXT_CHARS = 3
"""Number of characters before a position that decide whether a token begins there."""


def find_secrets(environ: Mapping[str, str]) -> list[str]:
    """Return the values of variables whose names suggest secrets."""
    return [
        value
        for name, value in environ.items()
        if _SECRET_NAME.search(name)
        and len(value) >= MIN_SECRET_CHARS
        and not _NON_SECRET_RE.fullmatch(value)
    ]


class Redactor:
    """Replaces secrets in text with a placeholder."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._set_spellings(form for secret in secrets for form in spellings(secret))

    def _set_spellings(self, forms: Iterable[str]) -> None:
        # Longest first, so that a secret matches completely even if another is its prefix.
        self._spellings = sorted(set(forms), key=len, reverse=True)
        for cached in ("_pattern", "_beginnings"):
            self.__dict__.pop(cached, None)

    def add(self, secret: str) -> None:
        """Add a secret; if it is short, it is redacted only as a complete token."""
        self._set_spellings([*self._spellings, secret, *spellings(secret)])

    def text(self, text: str, start: int = 0, end: int | None = None) -> str:
        """Redact secrets in `text`, or only from `start` to `end`."""
        # Searching for each encoding is much faster than the pattern, which is rarely needed.
        if not any(form in text for form in self._spellings):
            return text[start:end]
        pieces: list[str] = []
        for match in self._pattern.finditer(text, start):
            if end is not None and match.end() > end:
                break
            pieces += text[start : match.start()], PLACEHOLDER
            start = match.end()
        return "".join((*pieces, text[start:end]))

    def value(self, value: Any) -> Any:
        """Redact secrets in all strings of JSON data."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def safe_until(self, text: str) -> int:
        """Return how many characters of unfinished text can be shown.

        The remaining characters could be the start of a secret.
        """
        longest = max(map(len, self._spellings), default=1)
        ends = range(max(0, len(text) - longest + 1), len(text))
        start = next((at for at in ends if text[at:] in self._beginnings), len(text))
        # The cut must not split a complete secret.
        for match in self._pattern.finditer(text):
            if match.start() < start < match.end():
                return match.start()
        return start

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(_form_pattern, self._spellings)))

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        # The next character decides whether a short secret is a complete token.
        return frozenset(
            form[:end]
            for form in self._spellings
            for end in range(1, len(form) + (len(form) < MIN_SECRET_CHARS))
        )


def _form_pattern(form: str) -> str:
    """Return the pattern that matches an encoded secret; if short, it must be a complete token."""
    pattern = re.escape(form)
    if len(form) < MIN_SECRET_CHARS:
        before = _TOKEN_START if form[:1].isalnum() else ""
        behind = f"(?!{_LETTER})" if form[-1:].isalnum() else ""
        return before + pattern + behind
    return pattern


class StreamRedactor:
    """Redacts streamed text; holds back text that could be the start of a secret."""

    def __init__(self, redactor: Redactor, on_text: Callable[[str | None], None]) -> None:
        self._redactor = redactor
        self._on_text = on_text
        self._before = ""  # the end of the text that was passed on
        self._held = ""

    def __call__(self, piece: str | None) -> None:
        """Add a piece of text; None restarts the stream."""
        if piece is None:
            self._before = self._held = ""
            self._on_text(None)
        else:
            text = self._held + piece
            self._pass_on(text, self._redactor.safe_until(text))

    def end(self) -> None:
        """Pass on the text that was held back, since the stream is complete."""
        self._pass_on(self._held, len(self._held))

    def _pass_on(self, text: str, safe: int) -> None:
        self._held = text[safe:]
        if safe:
            known, start = self._before + text, len(self._before)
            self._on_text(self._redactor.text(known, start, start + safe))
            self._before = known[: start + safe][-_TOKEN_CONTEXT_CHARS:]


def spellings(secret: str) -> set[str]:
    """Return a secret unchanged, URL- and JSON-encoded, in hex, and in base64.

    Base64 has three alignments, depending on the secret's position in the encoded text.
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
        # Some bits of the first and last characters encode the surrounding text.
        end = len(encoded) if (offset + len(raw)) % 3 == 0 else len(encoded) - 1
        inner = encoded[(0, 2, 3)[offset] : end]
        forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return {form for form in forms if len(form) >= MIN_SECRET_CHARS}
