"""Associations: typed links between memories, which get stronger with use and fade without it.

When a memory is written, it is linked to similar ones among the newest; consolidation links it to
older ones. A search follows only proven links, that is, those between memories that helped with the
same verified answer, since it finds memories with similar words without links. The graph of links
can be exported as GraphML and Mermaid.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from agent.memory.database import links, memories
from agent.memory.kinds import FACT, OUTCOME
from agent.memory.terms import split_terms
from browser.text.words import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agent.memory.database import Store
    from agent.memory.memory_types import Hit

HALF_LIFE = 30 * 86_400.0  # seconds in which an unused link loses half its strength
MIN_STRENGTH = 0.15  # weaker links are deleted
REINFORCEMENT = 0.1  # added to a link's strength when its memories are used together
MAX_STRENGTH = 0.9  # links do not become stronger than this
MIN_FOLLOWED_STRENGTH = 0.3  # a search does not follow weaker links
MAX_STARTS = 5  # number of top hits whose links are followed
# number of newest memories that a new one is compared with, as in the reference engine
COMPARED_MEMORIES = 30
MAX_NEW_LINKS = 5  # maximum number of links of a new memory, as in the reference engine
MIN_SHARED = 0.25  # minimum share of the shorter memory's words that two linked memories share
MIN_SIMILARITY = 0.5  # from this share on, the kind of the link is `similar`, not `related`
PASSED_SHARE = 0.6  # share of a hit's score that a full-strength link passes on
_IDS: sa.BindParameter[int] = sa.bindparam("ids", expanding=True)
_SELECT_LINKS_BY_IDS = (
    sa.select(links)
    .where(sa.or_(links.c.one.in_(_IDS), links.c.other.in_(_IDS)))
    .order_by(links.c.strength.desc(), links.c.one, links.c.other)
)


class LinkKind(StrEnum):
    """The reason why two memories are linked; if several reasons apply, the first one is used."""

    CAUSAL = "causal"
    SEQUENTIAL = "sequential"
    SIMILAR = "similar"
    RELATED = "related"


@dataclass(frozen=True, slots=True)
class MemoryLink:
    """An undirected link; `strength` is between 0 and 1."""

    one: int
    other: int
    kind: LinkKind
    strength: float
    proven: bool = False


class LinkInput(NamedTuple):
    """The data needed for links: a memory's id, kind, run and session, and its index terms."""

    id: int
    kind: str
    run: str | None
    session: int
    terms: str

    @property
    def words(self) -> frozenset[str]:
        """The index terms without the first one, which marks the kind."""
        return frozenset(split_terms(self.terms)[0].split()[1:])


def link_input(row: Mapping[str, Any]) -> LinkInput:
    """Extract the data needed for links from a memory's columns."""
    return LinkInput(row["id"], row["kind"], row["run"], row["session"], row["terms"])


def links_of(new: LinkInput, others: Iterable[LinkInput]) -> list[MemoryLink]:
    """Return the strongest links from a memory to others that share words with it."""
    found = filter(None, (_link_between(new, other) for other in others if other.id != new.id))
    return sorted(found, key=lambda link: -link.strength)[:MAX_NEW_LINKS]


def _link_between(new: LinkInput, other: LinkInput) -> MemoryLink | None:
    own, theirs = new.words, other.words
    shared = len(own & theirs) / max(1, min(len(own), len(theirs)))
    if shared < MIN_SHARED:
        return None
    if {new.kind, other.kind} == {FACT, OUTCOME} and new.run == other.run:
        kind = LinkKind.CAUSAL
    elif new.session == other.session and abs(new.id - other.id) == 1:
        kind = LinkKind.SEQUENTIAL
    else:
        kind = LinkKind.SIMILAR if shared >= MIN_SIMILARITY else LinkKind.RELATED
    return MemoryLink(new.id, other.id, kind, round(min(1.0, shared), 2))


class Links:
    """The links among a namespace's memories, whose ids run from `first` to `last`."""

    def __init__(self, store: Store, first: int, last: int) -> None:
        self._store = store
        self._ids = range(first, last + 1)
        self._in_namespace = links.c.one.between(first, last)

    def write(self, new: Iterable[MemoryLink]) -> int:
        """Save links; an existing link keeps the greater strength. Returns how many are new."""
        with self._store.write() as connection:
            return sum(_write(connection, link) for link in new if link.one != link.other)

    def connect(self, connection: sa.Connection, rows: Sequence[LinkInput]) -> None:
        """Link memories that are being written to similar ones among the newest."""
        own = memories.c.id.between(self._ids.start, rows[0].id - 1)
        newest = sa.select(*memories.c["id", "kind", "run", "session", "terms"]).where(
            own, memories.c.state == "active", memories.c.terms != ""
        )
        before = connection.execute(newest.order_by(memories.c.id.desc()).limit(COMPARED_MEMORIES))
        window = [LinkInput(*row) for row in before][::-1]
        new: list[MemoryLink] = []
        for row in rows:
            if row.terms:
                new += links_of(row, window[-COMPARED_MEMORIES:])
                window.append(row)
        if new:  # a memory that is being written has no links yet
            connection.execute(links.insert(), [_columns(link) for link in new])

    def reinforce(self, ids: Iterable[int]) -> None:
        """Strengthen the links among memories that helped with the same verified answer."""
        grown, proven = links.c.strength + REINFORCEMENT, {"proven": True, "touched": time.time()}
        with self._store.write() as connection:
            for one, other in combinations(sorted(id_ for id_ in set(ids) if id_ in self._ids), 2):
                _write(connection, MemoryLink(one, other, LinkKind.RELATED, MIN_FOLLOWED_STRENGTH))
                link = links.update().where(_is_link(one, other))
                connection.execute(
                    link.where(links.c.strength <= MAX_STRENGTH).values(strength=grown)
                )
                connection.execute(link, proven)

    def links_of_any(self, connection: sa.Connection, ids: Sequence[int]) -> list[MemoryLink]:
        """List the links of any of these memories, strongest first."""
        return [
            MemoryLink(row.one, row.other, LinkKind(row.kind), row.strength, row.proven)
            for row in connection.execute(_SELECT_LINKS_BY_IDS, {"ids": list(ids)})
        ]

    def follow(
        self, connection: sa.Connection, found: Sequence[tuple[float, int]]
    ) -> dict[int, float]:
        """Score the memories that proven links connect to the best hits; returns scores by id."""
        starts = {id_: score for score, id_ in found[:MAX_STARTS]}
        known = {id_ for _, id_ in found}
        reached: dict[int, float] = {}
        for link in self.links_of_any(connection, list(starts)) if starts else ():
            for near, far in ((link.one, link.other), (link.other, link.one)):
                followed = link.proven and link.strength >= MIN_FOLLOWED_STRENGTH
                if followed and near in starts and far not in known:
                    score = PASSED_SHARE * link.strength * starts[near]
                    reached[far] = max(score, reached.get(far, 0.0))
        return reached

    def most_linked(self, connection: sa.Connection, limit: int) -> list[int]:
        """List the memories with the most links, in descending order of links."""
        ends = sa.union_all(
            sa.select(links.c.one.label("id")).where(self._in_namespace),
            sa.select(links.c.other.label("id")).where(self._in_namespace),
        ).subquery()
        most = sa.select(ends.c.id).group_by(ends.c.id)
        ordered = most.order_by(sa.func.count().desc(), ends.c.id.desc()).limit(limit)
        return list(connection.scalars(ordered))

    def decay(self, now: float) -> int:
        """Let links decay with the time since their last use; returns how many are deleted."""
        deleted = 0
        with self._store.write() as connection:
            for row in connection.execute(sa.select(links).where(self._in_namespace)).all():
                strength = row.strength * 0.5 ** (max(0.0, now - row.touched) / HALF_LIFE)
                link = _is_link(row.one, row.other)
                if strength < MIN_STRENGTH:
                    connection.execute(links.delete().where(link))
                    deleted += 1
                elif row.strength - strength > 0.01:
                    new = {"strength": strength, "touched": now}
                    connection.execute(links.update().where(link), new)
        return deleted


def _write(connection: sa.Connection, link: MemoryLink) -> bool:
    """Save a link; returns whether it is new."""
    row = _columns(link)
    which = _is_link(row["one"], row["other"])
    known = connection.scalar(sa.select(links.c.strength).where(which))
    if known is None:
        connection.execute(links.insert(), row)
    elif link.strength > known:
        changed = {"strength": link.strength, "touched": row["touched"]}
        connection.execute(links.update().where(which), changed)
    return known is None


def _columns(link: MemoryLink) -> dict[str, Any]:
    one, other = sorted((link.one, link.other))
    return {
        "one": one,
        "other": other,
        "kind": link.kind.value,
        "proven": link.proven,
        "strength": link.strength,
        "touched": time.time(),
    }


def _is_link(one: int, other: int) -> sa.ColumnElement[bool]:
    return sa.and_(links.c.one == one, links.c.other == other)


_MAX_LABEL_CHARS = 60  # maximum length of a memory in a graph, in characters
_ATTRIBUTES = {
    "label": ("node", "string"),
    "kind": ("node", "string"),
    "at": ("node", "string"),
    "link": ("edge", "string"),
    "strength": ("edge", "double"),
    "proven": ("edge", "boolean"),
}


@dataclass(frozen=True, slots=True)
class Graph:
    """The memories with the most links, and the links between them, strongest first."""

    memories: tuple[Hit, ...]
    links: tuple[MemoryLink, ...]

    def graphml(self) -> str:
        """Format the graph as GraphML, for Gephi, yEd and networkx."""
        from xml.etree import ElementTree as ET  # noqa: PLC0415 - runs export no graph

        root = ET.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
        for name, (place, type_) in _ATTRIBUTES.items():
            attributes = {"id": name, "for": place, "attr.name": name, "attr.type": type_}
            ET.SubElement(root, "key", attributes)
        graph = ET.SubElement(root, "graph", edgedefault="undirected")

        def add(tag: str, attributes: dict[str, str], **values: str) -> None:
            element = ET.SubElement(graph, tag, attributes)
            for name, value in values.items():
                ET.SubElement(element, "data", key=name).text = value

        for hit in self.memories:
            when = hit.at.isoformat() if hit.at else ""
            add("node", {"id": f"m{hit.id}"}, label=_label(hit), kind=hit.kind, at=when)
        for link in self.links:
            ends = {"source": f"m{link.one}", "target": f"m{link.other}"}
            proven = "true" if link.proven else "false"
            add("edge", ends, link=link.kind, strength=f"{link.strength:.2f}", proven=proven)
        ET.indent(root)
        return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"

    def mermaid(self) -> str:
        """Format the graph as a Mermaid flowchart; proven links are thick."""
        lines = ["graph LR"]
        for hit in self.memories:
            # Escape characters that Mermaid and HTML would interpret.
            label = _label(hit).replace("&", "#amp;").replace('"', "#quot;")
            label = label.replace("<", "#lt;").replace("`", "'")
            lines.append(f'  m{hit.id}["{label}"]')
        lines += [
            f"  m{link.one} {'===' if link.proven else '---'} m{link.other}" for link in self.links
        ]
        return "\n".join(lines) + "\n"


def _label(hit: Hit) -> str:
    """Return the beginning of a memory, without characters that are invalid in XML."""
    text = one_line(f"[{hit.kind}] {hit.text}")
    return shorten("".join(char for char in text if char.isprintable()), _MAX_LABEL_CHARS)
