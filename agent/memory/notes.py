"""What the engine notes for itself about a namespace: when it dreamt, how far it has come."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from agent.memory.schema import state

if TYPE_CHECKING:
    from agent.memory.store import Store


class Notes:
    """The notes of one namespace: JSON values by name."""

    def __init__(self, store: Store, namespace: int) -> None:
        self._store = store
        self._namespace = namespace

    def read(self, name: str) -> Any | None:
        """Read a note, None where there is none."""
        query = sa.select(state.c.value).where(*self._named(name))
        with self._store.read() as connection:
            found = connection.scalar(query)
        return None if found is None else json.loads(found)

    def write(self, name: str, value: Any) -> None:
        """Write a note in place of the one of its name."""
        row = {"namespace": self._namespace, "name": name, "value": json.dumps(value)}
        with self._store.write() as connection:
            connection.execute(state.delete().where(*self._named(name)))
            connection.execute(state.insert(), row)

    def _named(self, name: str) -> tuple[sa.ColumnElement[bool], ...]:
        return state.c.namespace == self._namespace, state.c.name == name
