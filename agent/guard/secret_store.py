"""Stores named values: provider keys, and secrets that are typed into pages by name.

Values are stored in the system keyring if the package `keyring` is installed and finds one,
otherwise in a file that only its owner can read. Names and metadata are always stored in the file.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from agent.config import private_folder
from agent.errors import UsageError, requires_extra
from agent.options import APP
from browser.files import write_atomic
from browser.net.url import is_web_url, origin

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "secrets.json"
TOTP: Final = "totp"
MIN_KEY_BITS: Final = 80
"""Minimum bits in a key for one-time codes; many sites use 16 base32 letters (80 bits)."""


class ValueStore:
    """Values by name, each with a row of metadata in `file`."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def rows(self) -> dict[str, dict[str, str]]:
        """Return the rows by name; if a row has no `value`, its value is in the keyring."""
        try:
            rows: dict[str, dict[str, str]] = json.loads(self.file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            hint = "Move the file elsewhere."
            raise UsageError(f"cannot read {self.file}: {error}", hint=hint) from error
        return rows

    def put(self, name: str, value: str, **row: str) -> bool:
        """Store a value; returns whether it is in the keyring."""
        kept = _with_keyring("set_password", name, value)[0]
        if not kept:
            row["value"] = value
        self._write({**self.rows(), name: row})
        return kept

    def value(self, name: str) -> str | None:
        """Return a value, or None if the name is unknown or the keyring is unavailable."""
        row = self.rows().get(name)
        if row is None:
            return None
        if "value" in row:
            return row["value"]
        found = _with_keyring("get_password", name)[1]
        return None if found is None else str(found)

    def remove(self, name: str) -> bool:
        """Delete a value; returns False if the name is unknown.

        Its row is deleted even if the keyring fails.
        """
        rows = self.rows()
        row = rows.pop(name, None)
        if row is None:
            return False
        if "value" not in row:
            _with_keyring("delete_password", name)
        self._write(rows)
        return True

    def _write(self, rows: dict[str, dict[str, str]]) -> None:
        private_folder(self.file.parent)
        try:
            write_atomic(self.file, json.dumps(rows, indent=2).encode(), private=True)
        except OSError as error:
            raise UsageError(f"cannot write {self.file}: {error.strerror}") from error


class KeyringWarning(UserWarning):
    """The system keyring failed, so the file is used."""


def _with_keyring(method: str, *arguments: str) -> tuple[bool, Any]:
    """Call a keyring method for Urchin's values; returns whether it succeeded, and its result.

    A locked or broken keyring causes a `KeyringWarning`; no command fails because of it.
    """
    try:
        backend = _backend()
        return backend is not None, backend and getattr(backend, method)(APP, *arguments)
    # In addition to `keyring`'s errors, backends raise errors from system libraries.
    except Exception as error:  # noqa: BLE001
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        message = f"the system keyring cannot be used ({reason}); unlock it to use the values in it"
        warnings.warn(message, KeyringWarning, stacklevel=1)  # once per process
        return False, None


def _backend() -> Any | None:
    """Return the keyring backend, or None if `keyring` is not installed or has none.

    Servers and containers often have none: their backends `fail` and `null` store nothing. The
    files of `keyrings.alt` are no safer than Urchin's own, and its encrypted file prompts for a
    password.
    """
    try:
        keyring = import_module("keyring")
    except ImportError:
        return None
    chosen = keyring.get_keyring()
    for backend in getattr(chosen, "backends", (chosen,)):
        module = type(backend).__module__
        if not module.endswith((".fail", ".null")) and not module.startswith("keyrings.alt"):
            return backend
    return None


def secret_name(text: str) -> str:
    """Return the name in `<secret>NAME</secret>`, a reference to a stored secret, or ""."""
    name = text.strip().removeprefix("<secret>").removesuffix("</secret>")
    return name if text.strip() == f"<secret>{name}</secret>" else ""


def _one_time_code(key: str) -> str:
    """Return the current code for a key; raises `UsageError` if it is not a valid key."""
    with requires_extra("login"):
        import pyotp  # noqa: PLC0415 - an extra

    class Codes(pyotp.TOTP):
        min_secret_length_bits = MIN_KEY_BITS

    settings: dict[str, Any] = {}
    address = urlsplit(key)
    if address.scheme == "otpauth":
        given = dict(parse_qsl(address.query))
        if address.netloc != "totp":
            raise UsageError("only time-based one-time codes are supported")
        key = given.get("secret", "")
        settings["digest"] = getattr(hashlib, given.get("algorithm", "SHA1").lower(), None)
        numbers = {"digits": "digits", "interval": "period"}
        settings |= {own: int(given[name]) for own, name in numbers.items() if name in given}
    try:
        return str(Codes(key.replace(" ", ""), **settings).now())
    except (ValueError, TypeError) as error:
        hint = "Copy the key that the site shows next to the QR code."
        raise UsageError("this is not a key for one-time codes", hint=hint) from error


class SecretStore:
    """The secrets in a data folder. Each is typed only on its origin's pages and never shown."""

    def __init__(self, data: Path) -> None:
        self._stored = ValueStore(data / FILE)

    def origins(self) -> dict[str, str]:
        """Return the secrets' origins by name."""
        return {name: row["origin"] for name, row in self._stored.rows().items()}

    def put(self, name: str, url: str, value: str, *, totp: bool = False) -> None:
        """Store a secret for the origin of `url`; raises `UsageError` for invalid arguments.

        With `totp` the value is the key for time-based one-time codes (RFC 6238), as base32 or as
        an otpauth address; `value` then returns the current code.
        """
        if not is_web_url(url):
            raise UsageError(
                f"{url!r} is not an origin", hint="Use a URL such as https://example.org."
            )
        if not name.strip() or not value:
            raise UsageError("a secret requires a name and a value")
        if totp:
            _one_time_code(value)  # raises if the key is invalid
        kind = {"kind": TOTP} if totp else {}
        self._stored.put(name, value, origin=origin(url), **kind)

    def is_one_time_code(self, name: str) -> bool:
        """Return whether a secret is a key for one-time codes."""
        return self._stored.rows().get(name, {}).get("kind") == TOTP

    def value(self, name: str, url: str) -> str | None:
        """Return a secret; None if it is unknown or its origin differs from that of `url`."""
        if not url or origin(url) != self.origins().get(name):
            return None
        value = self._stored.value(name)
        return _one_time_code(value) if value and self.is_one_time_code(name) else value

    def remove(self, name: str) -> bool:
        """Delete a secret; returns False if the name is unknown."""
        return self._stored.remove(name)
