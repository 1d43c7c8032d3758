"""A keyring in a file in the home folder; a file `locked` beside it locks it like a desktop's."""

from __future__ import annotations

import json
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked


class Ring(KeyringBackend):
    """Stores passwords by name, whatever the service."""

    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        """Return a password."""
        return self._kept().get(username)

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store a password."""
        self._keep({**self._kept(), username: password})

    def delete_password(self, service: str, username: str) -> None:
        """Delete a password."""
        self._keep({name: value for name, value in self._kept().items() if name != username})

    def _kept(self) -> dict[str, str]:
        if (Path.home() / "locked").exists():
            raise KeyringLocked("the collection is locked")
        file = Path.home() / "ring.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def _keep(self, kept: dict[str, str]) -> None:
        (Path.home() / "ring.json").write_text(json.dumps(kept))
