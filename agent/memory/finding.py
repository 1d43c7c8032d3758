"""Finding memories: by words, by meaning where a model for it was brought, by associations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from agent.memory.hits import hit_of, rows_of
from agent.memory.retrieval.following import STARTS, follow
from agent.memory.retrieval.index import Range
from agent.memory.retrieval.search import Search
from agent.memory.schema import namespaces

if TYPE_CHECKING:
    from collections.abc import Collection

    from agent.memory.by_meaning import ByMeaning, Found
    from agent.memory.links import Links
    from agent.memory.store import Store
    from agent.memory.types import Hit

_LAST = sa.select(namespaces.c.last).where(namespaces.c.id == sa.bindparam("namespace"))


class Finding:
    """Searches over one namespace, whose ids begin after `first`."""

    def __init__(
        self,
        store: Store,
        namespace: int,
        first: int,
        links: Links,
        by_meaning: ByMeaning | None = None,
    ) -> None:
        self._store = store
        self._namespace = namespace
        self._first = first + 1
        self._links = links
        self._by_meaning = by_meaning

    def search(
        self, text: str, limit: int, kinds: Collection[str] | None, *, associations: bool
    ) -> list[Hit]:
        """Find memories that bear on a text, best first."""
        asked = self._by_meaning.asked(text) if self._by_meaning else None
        with self._store.read() as connection:
            where = self._range(connection)
            search = Search(connection, self._store.index, where, kinds)
            if self._by_meaning is None or asked is None:
                found = _scored(search, text, ())
            else:
                near = self._by_meaning.near(connection, asked, where)
                by_words = _scored(search, text, near)
                found = self._by_meaning.reorder(connection, asked, by_words, near)
            if associations and found:
                found = self._follow(connection, found, limit, kinds)
            found = found[:limit]
            rows = rows_of(connection, [id_ for _, id_ in found])
        return [hit_of(rows[id_], score) for score, id_ in found]

    def _follow(
        self,
        connection: sa.Connection,
        found: Found,
        limit: int,
        kinds: Collection[str] | None,
    ) -> Found:
        near = follow(found, self._links.of(connection, [id_ for _, id_ in found[:STARTS]]), limit)
        new = {id_ for _, id_ in near} - {id_ for _, id_ in found}
        rows = self._store.index.rows(connection, sorted(new)) if new else []
        allowed = {row.id for row in rows if kinds is None or row.kind in kinds}
        return [pair for pair in near if pair[1] not in new or pair[1] in allowed]

    def _range(self, connection: sa.Connection) -> Range:
        last = connection.execute(_LAST, {"namespace": self._namespace}).scalar_one()
        return Range(self._first, int(last))


def _scored(search: Search, text: str, also: Collection[int]) -> Found:
    return [(score, candidate.id) for score, candidate in search.find(text, also)]
