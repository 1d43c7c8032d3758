"""The words of memories and of questions as the index knows them, and where they occur.

An inverted index: in SQLite by FTS5, in Postgres by GIN.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from browser.text.languages import foreign_small_words
from browser.text.words import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import sqlalchemy as sa


# Irregular English forms and the words that they belong to: what a stemmer cannot know. Without
# them the recall over long conversations is .4 points lower.
_FORMS = """
arise arose arisen; awake awoke awoken; bear bore borne; beat beaten; become became; begin began
begun; bend bent; bind bound; bite bit bitten; bleed bled; blow blew blown; break broke broken;
breed bred; bring brought; build built; burn burnt; buy bought; catch caught; choose chose chosen;
come came; creep crept; deal dealt; dig dug; do did done does; draw drew drawn; dream dreamt;
drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight
fought; find found; flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten;
forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go went gone goes;
grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; kneel knelt; know
knew known; lay laid; lead led; learn learnt; leave left; lend lent; lie lain; light lit; lose
lost; make made; mean meant; meet met; pay paid; ride rode ridden; ring rang rung; rise rose risen;
run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn; shake shook shaken;
shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat;
sleep slept; slide slid; speak spoke spoken; spend spent; spin spun; stand stood; steal stole
stolen; stick stuck; strike struck; swear swore sworn; sweep swept; swim swam swum; swing swung;
take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown;
understand understood; wake woke woken; wear wore worn; weep wept; win won; write wrote written;
child children; foot feet; goose geese; life lives; man men; mouse mice; person people; tooth teeth;
wife wives; wolf wolves; woman women; good better best; bad worse worst
"""
BASE = {
    form: base for entry in _FORMS.split(";") for base, *forms in (entry.split(),) for form in forms
}
"""Each irregular form with its base."""

SPEAKER = "by"
"""Begins the term that says who speaks; the rest is hexadecimal, so that no word looks like it."""
KIND = "kd"
"""Begins the term that says of what kind a memory is."""
# `Ann:`, `[12 May] Mary-Ann O'Neil:`: up to three words before a colon, at the start. French sets a
# space before it, Chinese and Japanese have one of their own and set none behind.
_SPEAKER = re.compile(
    r"\s*(?:[\[(][^\])]{1,40}[\])]\s*)?([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2})"
    r"(?:[ \u00a0\u202f]?:\s+|：\s*)(?=\S)"
)


def index_terms(text: str, empty: Collection[str] = ()) -> list[str]:
    """Stems of the words that carry meaning, in ASCII, in order, repeats kept.

    Words of other scripts are spelt in hexadecimal, so that every database cuts them alike; `empty`
    are further words to leave out.
    """
    left_out = STOP_WORDS.union(empty) if empty else STOP_WORDS
    found = (BASE.get(word, word) for word in words(text) if word not in left_out)
    return [_ascii(stem(word)) for word in found]


def content_key(text: str) -> str:
    """Name a text by its words: case, punctuation, stop words and citation marks do not count."""
    return hashlib.sha256(" ".join(index_terms(unmarked(text))).encode()).hexdigest()[:24]


def unmarked(text: str) -> str:
    """Take citation marks such as `[2]` out."""
    head, *rest = text.split("[")
    for part in rest:
        number, bracket, after = part.partition("]")
        marked = bracket and number.isdecimal()
        head = head.rstrip() + after if marked else f"{head}[{part}"
    return head.strip()


def memory_terms(text: str) -> list[str]:
    """Index terms of a memory, before them a speaker term for a name before a colon."""
    match = _SPEAKER.match(text)
    names = [speaker_term(_ascii(stem(word))) for word in words(match[1])] if match else []
    return [*names, *index_terms(text)]


def has_speaker(text: str) -> bool:
    """Tell whether a text begins with a name and a colon."""
    return _SPEAKER.match(text) is not None


def speaker_term(term: str) -> str:
    """Spell the term that marks memories in which someone of this name speaks."""
    return SPEAKER + term.encode().hex()


def kind_term(kind: str) -> str:
    """Spell the term that marks memories of a kind."""
    return KIND + kind.encode().hex()


def _ascii(word: str) -> str:
    return word if word.isascii() else "x" + word.encode().hex()


MAX_TERMS = 24  # a question has fewer; a pasted page must not become a thousand lookups
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_UNITS = frozenset("date day week month year time".split())
_TIMES = frozenset(
    "yesterday today tonight tomorrow ago since last next week weeks weekend weekends month months "
    "year years".split()
).union(_MONTHS, _DAYS)


@dataclass(frozen=True, slots=True)
class Query:
    """A question: `terms` in its order, each once; `pairs` are neighbours among them."""

    terms: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    months: frozenset[int] = frozenset()
    asks_when: bool = False


def parse(text: str) -> Query:
    """Read a question."""
    asked = words(text)
    found = index_terms(text, foreign_small_words(text))
    return Query(
        tuple(dict.fromkeys(found))[:MAX_TERMS],
        tuple((a, b) for a, b in pairwise(found) if a != b)[:MAX_TERMS],
        frozenset(_months(text, asked)),
        "when" in asked or any(_asks_when(one, other) for one, other in pairwise(asked)),
    )


def names_time(text: str) -> bool:
    """Tell a text that names a day, a month, a year or a time relative to now."""
    found = words(text)
    return not _TIMES.isdisjoint(found) or any(len(w) == 4 and w.isdecimal() for w in found)


def _months(text: str, asked: Sequence[str]) -> set[int]:
    months = {n for n, name in enumerate(_MONTHS, 1) if name in asked}
    written = text.split()
    may = any(w.strip(",.?!") == "May" and b[-1] not in ".?!" for b, w in pairwise(written))
    return months if may else months - {5}  # "may I", "may have"


def _asks_when(one: str, other: str) -> bool:
    return (one, other) == ("how", "long") or (one in {"what", "which"} and other in _UNITS)


ASKS, NAMES_TIME = 1, 2
"""Bits of a memory's traits: it ends in a question mark; it names a time."""


@dataclass(frozen=True, slots=True)
class IndexedTerm:
    """What the ranking reads of a memory; `terms` are its index terms with a space between."""

    id: int
    session: int
    at: float
    traits: int
    terms: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Range:
    """The ids of one namespace that are given so far, both ends included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Reach:
    """In how many memories a term occurs, counted up to a cap, and where counting stopped."""

    count: int
    last: int


class TermIndex(ABC):
    """An inverted index over the terms of memories.

    `among` holds terms of kinds; where there are any, only memories with one of them count. The
    statements are put together of constants; every value is bound, at a `mark`.
    """

    mark: str
    by_ids: str
    """The condition that an id is among those bound at a mark."""

    @abstractmethod
    def create(self, connection: sa.Connection) -> None:
        """Create the index where it is missing."""

    def add(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:  # noqa: B027 - Postgres needs none of the three
        """Make memories findable: (id, terms) each."""

    def remove(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:  # noqa: B027 - as above
        """Make memories unfindable; the terms must be those that were added."""

    def purge(self, connection: sa.Connection) -> None:  # noqa: B027 - as above
        """Drop every trace of what was removed."""

    @abstractmethod
    def holding(
        self, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> tuple[str, list[Any]]:
        """Write the statement that gives the `id` of those that hold all terms, and its values."""

    @abstractmethod
    def bound(self, ids: Sequence[int]) -> Any:
        """Give ids in the form in which they are bound."""

    def reach(
        self,
        connection: sa.Connection,
        terms: Sequence[str],
        where: Range,
        cap: int,
        among: Sequence[str],
    ) -> list[Reach]:
        """Count the memories that hold each term, each count stopping at `cap`; one statement."""
        parts, values = [], []
        for number, term in enumerate(terms):
            holding, bound = self.holding([term], where, among)
            limited = f"({holding} LIMIT {self.mark}) AS found"
            parts.append(f"SELECT {number}, count(*), max(found.id) FROM {limited}")  # noqa: S608
            values += [*bound, cap]
        rows = self._all(connection, parts, values)
        return [Reach(count, last or where.first) for _, count, last in sorted(rows)]

    def holders(
        self, connection: sa.Connection, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> list[tuple[int, int]]:
        """List (number of the term, id of a memory that holds it); one statement."""
        parts, values = [], []
        for number, term in enumerate(terms):
            holding, bound = self.holding([term], where, among)
            parts.append(f"SELECT {number}, found.id FROM ({holding}) AS found")  # noqa: S608
            values += bound
        return [(number, id_) for number, id_ in self._all(connection, parts, values)]

    def holding_all(
        self,
        connection: sa.Connection,
        terms: Sequence[str],
        where: Range,
        limit: int,
        among: Sequence[str],
    ) -> list[int]:
        """List memories that hold all the terms, newest first."""
        holding, bound = self.holding(terms, where, among)
        newest = f"{holding} ORDER BY id DESC LIMIT {self.mark}"
        return [id_ for (id_,) in self._all(connection, [newest], [*bound, limit])]

    def rows(self, connection: sa.Connection, ids: Sequence[int]) -> list[IndexedTerm]:
        """Read what the ranking needs of the memories with these ids that are in use."""
        query = (
            "SELECT id, session, at, traits, terms, kind FROM memories "  # noqa: S608
            f"WHERE {self.by_ids} AND state = 'active'"
        )
        found = self._all(connection, [query], [self.bound(ids)])
        return [IndexedTerm(*row) for row in found]

    def _all(
        self, connection: sa.Connection, parts: Sequence[str], values: Sequence[Any]
    ) -> Sequence[Any]:
        if not parts:
            return []
        return connection.exec_driver_sql(" UNION ALL ".join(parts), tuple(values)).all()


class Fts5Index(TermIndex):
    """`TermIndex` over SQLite's FTS5, without content: the terms stand in their own column."""

    mark = "?"
    by_ids = "id IN (SELECT value FROM json_each(?))"

    def create(self, connection: sa.Connection) -> None:
        """Create the virtual table."""
        connection.exec_driver_sql(
            "CREATE VIRTUAL TABLE IF NOT EXISTS memory_index USING fts5("
            "terms, content='', columnsize=0, detail=none, tokenize='ascii')"
        )

    def add(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Add terms to the index."""
        insert = "INSERT INTO memory_index(rowid, terms) VALUES (?, ?)"
        connection.exec_driver_sql(insert, list(rows))

    def remove(self, connection: sa.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Take terms out again: FTS5 must be told what they were."""
        delete = "INSERT INTO memory_index(memory_index, rowid, terms) VALUES ('delete', ?, ?)"
        connection.exec_driver_sql(delete, list(rows))

    def purge(self, connection: sa.Connection) -> None:
        """Merge the index into one piece, which drops the words of what was removed."""
        connection.exec_driver_sql("INSERT INTO memory_index(memory_index) VALUES ('optimize')")

    def holding(
        self, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> tuple[str, list[Any]]:
        """Match all terms, and one of those of kinds; terms are ASCII letters and digits."""
        match = " AND ".join(f'"{term}"' for term in terms)
        if among:
            match += " AND (" + " OR ".join(f'"{term}"' for term in among) + ")"
        statement = (
            "SELECT rowid AS id FROM memory_index "
            "WHERE memory_index MATCH ? AND rowid BETWEEN ? AND ?"
        )
        return statement, [match, where.first, where.last]

    def bound(self, ids: Sequence[int]) -> str:
        """Give ids as a JSON list: one value however many they are."""
        return json.dumps(list(ids))


class GinIndex(TermIndex):
    """`TermIndex` over an inverted index of Postgres, which keeps it in step with the table."""

    mark = "%s"
    by_ids = "id = ANY(%s::bigint[])"

    def create(self, connection: sa.Connection) -> None:
        """Create the index over the terms as an array."""
        connection.exec_driver_sql(
            "CREATE INDEX IF NOT EXISTS memory_index ON memories "
            "USING gin (string_to_array(terms, ' ')) WITH (fastupdate = off)"
        )

    def holding(
        self, terms: Sequence[str], where: Range, among: Sequence[str]
    ) -> tuple[str, list[Any]]:
        """Contain all terms, and overlap with those of kinds."""
        statement = (
            "SELECT id FROM memories WHERE string_to_array(terms, ' ') @> %s::text[] "
            "AND id BETWEEN %s AND %s AND state = 'active'"
        )
        values: list[Any] = [list(terms), where.first, where.last]
        if not among:
            return statement, values
        return f"{statement} AND string_to_array(terms, ' ') && %s::text[]", [*values, list(among)]

    def bound(self, ids: Sequence[int]) -> list[int]:
        """Give ids as an array."""
        return list(ids)
