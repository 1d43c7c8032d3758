"""Stored values with names: keys of providers, and secrets that are typed into pages by name.

Values are in the system's keyring if the package `keyring` is installed and finds one, else in a
file that only its owner can read. The names and their metadata are always in the file.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from agent.config import APP, private_folder
from agent.errors import UsageError
from agent.files import write_atomic
from browser.net.url import is_web_url, origin

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "secrets.json"


class ValueStore:
    """Values by name, each with a row of metadata; `file` holds the rows."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def rows(self) -> dict[str, dict[str, str]]:
        """Return the rows by name; a row without `value` has its value in the keyring."""
        try:
            rows: dict[str, dict[str, str]] = json.loads(self.file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            hint = "Move the file away."
            raise UsageError(f"cannot read {self.file}: {error}", hint=hint) from error
        return rows

    def put(self, name: str, value: str, **row: str) -> bool:
        """Store a value; returns whether it is in the keyring."""
        keyring = _keyring()
        if keyring is not None:
            keyring.set_password(APP, name, value)
        else:
            row["value"] = value
        self._write({**self.rows(), name: row})
        return keyring is not None

    def value(self, name: str) -> str | None:
        """Return a value; None if the name is unknown or the keyring has gone."""
        row = self.rows().get(name)
        if row is None:
            return None
        if "value" in row:
            return row["value"]
        keyring = _keyring()
        found = keyring.get_password(APP, name) if keyring is not None else None
        return None if found is None else str(found)

    def remove(self, name: str) -> bool:
        """Delete a value; False if the name is unknown."""
        rows = self.rows()
        row = rows.pop(name, None)
        if row is None:
            return False
        keyring = _keyring()
        if "value" not in row and keyring is not None:
            keyring.delete_password(APP, name)
        self._write(rows)
        return True

    def _write(self, rows: dict[str, dict[str, str]]) -> None:
        private_folder(self.file.parent)
        try:
            write_atomic(self.file, json.dumps(rows, indent=2).encode(), private=True)
        except OSError as error:
            raise UsageError(f"cannot write {self.file}: {error.strerror}") from error


def _keyring() -> Any | None:
    """Return the keyring module, or None if it is not installed or has no backend."""
    try:
        keyring = import_module("keyring")
    except ImportError:
        return None
    # On servers and in containers there is often no backend; these two store nothing.
    usable = not type(keyring.get_keyring()).__module__.endswith((".fail", ".null"))
    return keyring if usable else None


def secret_name(text: str) -> str:
    """Return the name in `<secret>NAME</secret>`, the reference to a stored secret; else ""."""
    name = text.strip().removeprefix("<secret>").removesuffix("</secret>")
    return name if text.strip() == f"<secret>{name}</secret>" else ""


class SecretStore:
    """The secrets of a data folder, each for one origin: they are typed there and never shown."""

    def __init__(self, data: Path) -> None:
        self._stored = ValueStore(data / FILE)

    def origins(self) -> dict[str, str]:
        """Return the origins of the secrets by name."""
        return {name: row["origin"] for name, row in self._stored.rows().items()}

    def put(self, name: str, url: str, value: str) -> None:
        """Store a secret for the origin of `url`; raises `UsageError` for invalid arguments."""
        if not is_web_url(url):
            raise UsageError(f"{url!r} is no origin", hint="Write it as https://example.org.")
        if not name.strip() or not value:
            raise UsageError("a secret needs a name and a value")
        self._stored.put(name, value, origin=origin(url))

    def value(self, name: str, url: str) -> str | None:
        """Return a secret if `url` has its origin; None otherwise, and for unknown names."""
        allowed = url and origin(url) == self.origins().get(name)
        return self._stored.value(name) if allowed else None

    def remove(self, name: str) -> bool:
        """Delete a secret; False if the name is unknown."""
        return self._stored.remove(name)
