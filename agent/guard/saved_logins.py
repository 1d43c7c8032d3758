"""Sessions on sites where the user has logged in, encrypted and saved by name.

A session consists of a site's cookies and storage, in Playwright's format. It is saved in an
encrypted file in the data folder. The file alone is useless, since its key is in the secret store
(the system keyring, or a private file).
"""

from __future__ import annotations

import base64
import json
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from agent.config import private_folder
from agent.errors import UsageError, requires_extra
from agent.guard.secret_store import ValueStore
from browser.files import write_atomic
from browser.net.url import host, is_web_url, is_within, origin, registrable_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

FOLDER: Final = "logins"
KEYS: Final = "keys.json"
MAX_NAME_CHARS: Final = 60
"""Maximum length of a name in characters; it is part of a file name."""
_NONCE_BYTES: Final = 12  # the nonce size specified for AES-GCM


@dataclass(frozen=True, slots=True)
class SavedLogin:
    """A saved session; times are in seconds since the epoch.

    `expires` is the time when its last cookie expires; 0 if unknown.
    """

    name: str
    origin: str
    saved_at: float
    expires: float

    @property
    def expired(self) -> bool:
        """Whether all of its cookies have expired."""
        return 0 < self.expires < time.time()


class SavedLogins:
    """The sessions of a data folder."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER
        self._keys = ValueStore(self._folder / KEYS)

    def all(self) -> list[SavedLogin]:
        """Return the saved sessions sorted by name."""
        return [self._row(name) for name in sorted(self._keys.rows())]

    def find(self, name: str) -> SavedLogin:
        """Return a saved session; raises `UsageError` if there is none with that name."""
        if name not in self._keys.rows():
            hint = f"`research login {name} https://…` saves one; `research login list` shows them."
            raise UsageError(f"no saved login named {name!r}", hint=hint)
        return self._row(name)

    def names_by_site(self, names: Sequence[str]) -> dict[str, str]:
        """Map the sites (registrable domains) of the named sessions to the sessions' names."""
        return {registrable_domain(host(self.find(name).origin)): name for name in names}

    def put(self, name: str, url: str, state: dict[str, Any]) -> SavedLogin:
        """Save the session for the site of `url`, taken from a browser's entire storage.

        Raises `UsageError` for an invalid name or address, and if nothing is stored for the site.
        """
        if not name.replace("-", "_").replace(".", "_").isidentifier():
            raise UsageError(f"{name!r} is not a valid name", hint="Use letters, digits, - and _.")
        if len(name) > MAX_NAME_CHARS or not is_web_url(url):
            raise UsageError(
                f"a login requires a web address, and a name of up to {MAX_NAME_CHARS} characters"
            )
        own = filter_state_by_site(state, url)
        if not own["cookies"] and not own["origins"]:
            raise UsageError(
                f"{origin(url)} did not store a session",
                hint="Log in to the site in the browser window before you continue.",
            )
        key = self._keys.value(name) or base64.b64encode(secrets.token_bytes(32)).decode()
        nonce = secrets.token_bytes(_NONCE_BYTES)
        text = json.dumps(own).encode()
        private_folder(self._folder)
        sealed = _cipher(key).encrypt(nonce, text, _associated_data(name, url))
        write_atomic(self._file(name), nonce + sealed, private=True)
        lasting = [cookie["expires"] for cookie in own["cookies"] if cookie.get("expires", -1) > 0]
        has_session_cookie = len(lasting) < len(own["cookies"]) or bool(own["origins"])
        expires = 0.0 if has_session_cookie or not lasting else max(lasting)
        row = {"origin": origin(url), "saved": f"{time.time():.0f}", "expires": f"{expires:.0f}"}
        self._keys.put(name, key, **row)
        return self._row(name)

    def state(self, name: str) -> dict[str, Any]:
        """Decrypt a session; raises `UsageError` if its key or file is missing or invalid."""
        row, key = self.find(name), self._keys.value(name)
        hint = f"Save the login again: research login {name} {row.origin}"
        if key is None:
            raise UsageError(
                f"the key for the login {name!r} is not in the secret store", hint=hint
            )
        try:
            sealed = self._file(name).read_bytes()
            nonce, text = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
            state: dict[str, Any] = json.loads(
                _cipher(key).decrypt(nonce, text, _associated_data(name, row.origin))
            )
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read the login {name!r}: {error}", hint=hint) from error
        except Exception as error:  # the library's InvalidTag is not a ValueError
            if type(error).__name__ != "InvalidTag":
                raise
            raise UsageError(
                f"the login {name!r} cannot be decrypted with its key", hint=hint
            ) from error
        return state

    def remove(self, name: str) -> bool:
        """Delete a session and its key; returns False if there is none with that name."""
        self._file(name).unlink(missing_ok=True)
        return self._keys.remove(name)

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.session"

    def _row(self, name: str) -> SavedLogin:
        row = self._keys.rows()[name]
        return SavedLogin(name, row["origin"], float(row["saved"]), float(row["expires"]))


class LoginsInUse:
    """The saved sessions that a run uses, by name."""

    def __init__(self, data: Path, names: Sequence[str]) -> None:
        self._saved = SavedLogins(data)
        self._names = names

    def state(self) -> dict[str, Any]:
        """Decrypt the sessions into one storage state; raises `UsageError` if that fails."""
        return merge_states([self._saved.state(name) for name in self._names])

    def renew(self, state: dict[str, Any]) -> None:
        """Save the sessions again from a browser's state, with renewed cookies."""
        for name in self._names:
            with suppress(UsageError):  # nothing is stored any more: the site logged the user out
                self._saved.put(name, self._saved.find(name).origin, state)

    def covers(self, url: str) -> bool:
        """Return whether an address belongs to the site of one of the sessions."""
        return any(_is_of_site(host(url), own) for own in self._addresses)

    def state_without(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return a storage state without the data that belongs to the sessions' sites."""
        return _select(
            state, lambda name: not any(_is_of_site(name, url) for url in self._addresses)
        )

    @cached_property
    def _addresses(self) -> list[str]:
        return [self._saved.find(name).origin for name in self._names]


def filter_state_by_site(state: dict[str, Any], url: str) -> dict[str, Any]:
    """Return the part of a browser's storage state that belongs to an address's site."""
    return _select(state, lambda name: _is_of_site(name, url))


def _is_of_site(name: str, url: str) -> bool:
    own = host(url)
    return is_within(own, name) or registrable_domain(name) == registrable_domain(own)


def _select(state: dict[str, Any], is_wanted: Callable[[str], bool]) -> dict[str, Any]:
    return {
        "cookies": [c for c in state.get("cookies", ()) if is_wanted(c["domain"].lstrip("."))],
        "origins": [o for o in state.get("origins", ()) if is_wanted(host(o["origin"]))],
    }


def merge_states(states: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge several storage states."""
    return {
        kind: [entry for state in states for entry in state.get(kind, ())]
        for kind in ("cookies", "origins")
    }


def _associated_data(name: str, url: str) -> bytes:
    """Return the associated data, which prevents decryption under another name or origin."""
    return f"{name} {origin(url)}".encode()


def _cipher(key: str) -> Any:
    with requires_extra("login"):
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - an extra
    return AESGCM(base64.b64decode(key))
