"""Values that a person stored by name: keys of providers, and secrets that are typed by name.

They are in the keyring of the system where the package `keyring` is installed and has one, else in
a file that only its owner can read. Names, and what belongs to them, always are in the file.
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
    """Values by name, each with a row of what belongs to it; `file` holds the rows."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def rows(self) -> dict[str, dict[str, str]]:
        """Return the rows by name; one with a `value` has it in the file, others in the keyring."""
        try:
            rows: dict[str, dict[str, str]] = json.loads(self.file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            hint = "Move the file away."
            raise UsageError(f"cannot read {self.file}: {error}", hint=hint) from error
        return rows

    def put(self, name: str, value: str, **row: str) -> bool:
        """Store a value; gives whether it is in the keyring."""
        keyring = _keyring()
        # A container or a server has no keyring, or one that forgets.
        if keyring is not None:
            keyring.set_password(APP, name, value)
        else:
            row["value"] = value
        self._write({**self.rows(), name: row})
        return keyring is not None

    def value(self, name: str) -> str | None:
        """Return a value; None where there is none of that name, or no keyring any more."""
        row = self.rows().get(name)
        if row is None:
            return None
        if "value" in row:
            return row["value"]
        keyring = _keyring()
        found = keyring.get_password(APP, name) if keyring is not None else None
        return None if found is None else str(found)

    def remove(self, name: str) -> bool:
        """Delete a value; False where there is none of that name."""
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
    """Return the keyring, where the package is installed and has somewhere to keep things."""
    try:
        keyring = import_module("keyring")
    except ImportError:
        return None
    usable = not type(keyring.get_keyring()).__module__.endswith((".fail", ".null"))
    return keyring if usable else None


def secret_name(text: str) -> str:
    """Return the name in `<secret>NAME</secret>`, which stands for a stored secret; else ""."""
    name = text.strip().removeprefix("<secret>").removesuffix("</secret>")
    return name if text.strip() == f"<secret>{name}</secret>" else ""


class SecretStore:
    """The secrets of a data folder, each for one origin: typed there, and shown nowhere."""

    def __init__(self, data: Path) -> None:
        self._stored = ValueStore(data / FILE)

    def origins(self) -> dict[str, str]:
        """Name the secrets, each with its origin."""
        return {name: row["origin"] for name, row in self._stored.rows().items()}

    def put(self, name: str, where: str, value: str) -> None:
        """Store a secret; raises `UsageError` for what is no origin, and for an empty value."""
        if not is_web_url(where):
            raise UsageError(f"{where!r} is no origin", hint="Write it as https://example.org.")
        if not name.strip() or not value:
            raise UsageError("a secret needs a name and a value")
        self._stored.put(name, value, origin=origin(where))

    def value(self, name: str, where: str) -> str | None:
        """Return a secret for an address of its own origin; None for others and unknown names."""
        known = where and origin(where) == self.origins().get(name)
        return self._stored.value(name) if known else None

    def remove(self, name: str) -> bool:
        """Delete a secret; False where there is none of that name."""
        return self._stored.remove(name)
