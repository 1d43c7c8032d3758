"""Secrets that the person stored by name, each for one origin: typed there, and shown nowhere.

Values are in the keyring of the system where the package `keyring` is installed and has one, else
in a file of the data folder that only its owner can read. Names and origins always are there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from agent.errors import UsageError
from agent.files import write_whole
from browser.net.url import is_web_url, origin

if TYPE_CHECKING:
    from pathlib import Path

SERVICE: Final = "urchin-research"
FILE: Final = "secrets.json"


def named_in(text: str) -> str:
    """Give the name in `<secret>NAME</secret>`, which stands for a stored secret; else ""."""
    inner = text.strip().removeprefix("<secret>").removesuffix("</secret>")
    return inner if text.strip() == f"<secret>{inner}</secret>" else ""


class SecretStore:
    """The stored secrets of a data folder."""

    def __init__(self, data: Path) -> None:
        self._file = data / FILE

    def origins(self) -> dict[str, str]:
        """Name the secrets, each with its origin."""
        return {name: row["origin"] for name, row in self._rows().items()}

    def put(self, name: str, where: str, value: str) -> None:
        """Store a secret; raises `UsageError` for what is no origin, and for an empty value."""
        if not is_web_url(where):
            raise UsageError(f"{where!r} is no origin", hint="Write it as https://example.org.")
        if not name.strip() or not value:
            raise UsageError("a secret needs a name and a value")
        rows = self._rows()
        row = {"origin": origin(where)}
        ring = _keyring()
        if ring is not None:
            ring.set_password(SERVICE, name, value)
        else:
            row["value"] = value
        self._write({**rows, name: row})

    def value(self, name: str, where: str) -> str | None:
        """Give a secret for an address of its own origin; None for another, or an unknown name."""
        row = self._rows().get(name)
        if row is None or not where or origin(where) != row["origin"]:
            return None
        if "value" in row:
            return str(row["value"])
        ring = _keyring()
        found = ring.get_password(SERVICE, name) if ring is not None else None
        return None if found is None else str(found)

    def remove(self, name: str) -> bool:
        """Delete a secret; False where there is none of that name."""
        rows = self._rows()
        row = rows.pop(name, None)
        if row is None:
            return False
        ring = _keyring()
        if "value" not in row and ring is not None:
            ring.delete_password(SERVICE, name)
        self._write(rows)
        return True

    def _rows(self) -> dict[str, dict[str, str]]:
        try:
            rows: dict[str, dict[str, str]] = json.loads(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {self._file}: {error}") from error
        return rows

    def _write(self, rows: dict[str, dict[str, str]]) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._file, json.dumps(rows).encode(), private=True)
        except OSError as error:
            raise UsageError(f"cannot write {self._file}: {error.strerror}") from error


def _keyring() -> Any | None:
    """Give the system's keyring; None where there is none that keeps anything."""
    try:
        import keyring  # noqa: PLC0415 - an extra
        from keyring.backends import fail  # noqa: PLC0415 - as above
    except ImportError:
        return None
    return None if isinstance(keyring.get_keyring(), fail.Keyring) else keyring
