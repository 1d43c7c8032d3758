"""What a database says when it cannot go on, in one line for a person."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import exc

from agent.memory.errors import MemoryUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

_DAMAGED = (
    "The file is damaged, or no memory: move it away and a new one is made; "
    "`sqlite3 FILE .recover` saves what can be."
)
_HINTS = {
    "malformed": _DAMAGED,
    "not a database": _DAMAGED,
    "is full": "Free some disk space; what was remembered before is intact.",
    "readonly": "The file or its folder cannot be written: name another one with --data-dir.",
    "unable to open": "The file or its folder cannot be written: name another one with --data-dir.",
    "no such column": "The database is of another program: name another one with --data-dir.",
    "connection": "Is the server running, and RESEARCH_MEMORY_URL right?",
}
"""What to do, by words of SQLite's and libpq's messages."""


@contextmanager
def told(what: str) -> Iterator[None]:
    """Raise `MemoryUnavailable` for what the database or its files cannot do.

    What only a fault in our own statements brings (a syntax error, a broken rule) stays as it is.
    """
    try:
        yield
    except (exc.OperationalError, exc.InternalError) as error:
        raise _unavailable(what, error.orig or error) from error
    except exc.DatabaseError as error:
        if type(error) is not exc.DatabaseError:
            raise
        raise _unavailable(what, error.orig or error) from error


@contextmanager
def told_at_opening(what: str) -> Iterator[None]:
    """As `told`, and raise it for a URL that is none, a file and a driver that is not there."""
    try:
        with told(what):
            yield
    except ImportError as error:
        hint = "pip install 'urchin-research[postgres]'"
        raise MemoryUnavailable("the driver of Postgres is not installed", hint=hint) from error
    except (exc.ArgumentError, OSError) as error:
        raise _unavailable(what, error) from error


def _unavailable(what: str, error: BaseException) -> MemoryUnavailable:
    said = " ".join(str(error).split())
    hint = next((hint for words, hint in _HINTS.items() if words in said), None)
    return MemoryUnavailable(f"{what}: {said}", hint=hint)
