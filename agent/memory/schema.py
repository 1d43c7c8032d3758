"""The one schema of the store, for SQLite and Postgres alike.

Only the search index differs, and stands in its dialect's module. Ids of memories carry their
namespace (`namespace << 40 | n`, n counting from 1), so that a range of ids is a namespace, and
neighbours in time are neighbours by id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

from agent.memory.jsvalues import well_formed

if TYPE_CHECKING:
    from sqlalchemy import Dialect

VERSION = 3
NAMESPACE_SHIFT = 40

metadata = MetaData()


class Words(TypeDecorator[str]):
    """Text of any characters; what cannot be stored is dropped: half pairs, in Postgres NUL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Make a text storable."""
        if value is None:
            return None
        value = value if value.isascii() else well_formed(value)
        return value.replace("\x00", "") if dialect.name == "postgresql" else value


BigId = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts only INTEGER keys by itself

migrations = Table(
    "migrations",
    metadata,
    Column("version", Integer, primary_key=True),
    Column("applied", Float, nullable=False),
)

namespaces = Table(
    "namespaces",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Words, nullable=False, unique=True),
    Column("last", BigInteger, nullable=False),  # the highest id ever given, so that none returns
)

memories = Table(
    "memories",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=False),
    Column("kind", String, nullable=False),
    Column("key", Words),
    Column("text", Words, nullable=False),
    Column("value", Text),  # JSON, where the value is more than its text
    Column("at", Float, nullable=False),  # when it happened, seconds since the epoch
    Column("written", Float, nullable=False),
    Column("source", Words),
    Column("session", BigInteger, nullable=False),  # id of the first memory of its session
    Column("terms", Text, nullable=False),  # the words of the text as the index knows them
    Column("run", String),
    Column("url", Words),
    Column("trusted", Boolean, nullable=False),
    Column("state", String, nullable=False),
    Column("traits", Integer, nullable=False),  # bits: see `retrieval.ranking`
    Column("confidence", Float),
    Column("expires", Float),
    Column("uses", Integer, nullable=False, server_default="0"),
    Column("used", Float),
)
Index("memories_by_kind", memories.c.kind, memories.c.id)
Index("memories_by_key", memories.c.key, memories.c.kind)

history = Table(
    "history",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("memory", BigInteger, nullable=False, index=True),
    Column("text", Words, nullable=False),
    Column("value", Text),
    Column("source", Words),
    Column("run", String),
    Column("url", Words),
    Column("trusted", Boolean, nullable=False),
    Column("written", Float, nullable=False),
    Column("replaced", Float, nullable=False),
)

links = Table(
    "links",
    metadata,
    Column("one", BigInteger, primary_key=True, autoincrement=False),  # the smaller id
    Column("other", BigInteger, primary_key=True, autoincrement=False, index=True),
    Column("kind", String, nullable=False),
    Column("strength", Float, nullable=False),
    Column("proven", Boolean, nullable=False),  # used together in a verified answer
    Column("touched", Float, nullable=False),
)

seals = Table(
    "seals",
    metadata,
    Column("namespace", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", String, nullable=False),  # ISO 8601, as it was hashed
    Column("category", String, nullable=False),
    Column("content", Words, nullable=False),
    Column("previous", String, nullable=False),
    Column("hash", String, nullable=False),
)

stamps = Table(
    "stamps",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("namespace", Integer, nullable=False, index=True),
    Column("hash", String, nullable=False),  # of the entry that was the head then
    Column("token", LargeBinary, nullable=False),  # the authority's reply, see `agent.timestamp`
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("namespace", Integer, nullable=False),
    Column("name", Words, nullable=False),
    Column("started", Float, nullable=False),
    Column("updated", Float, nullable=False),
    Column("condensed", Words, nullable=False, server_default=""),
    Column("watermark", BigInteger, nullable=False, server_default="0"),
    UniqueConstraint("namespace", "name"),
)

turns = Table(
    "turns",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("conversation", BigInteger, nullable=False, index=True),
    Column("role", Words, nullable=False),
    Column("text", Words, nullable=False),
    Column("at", Float, nullable=False),
)

embeddings = Table(
    "embeddings",
    metadata,
    Column("digest", String, primary_key=True),  # SHA-256 of the text
    Column("model", String, primary_key=True),
    Column("vector", LargeBinary, nullable=False),  # 32-bit floats
)

codes = Table(
    "codes",
    metadata,
    Column("model", String, primary_key=True),
    Column("memory", BigInteger, primary_key=True, autoincrement=False, index=True),
    Column("code", LargeBinary, nullable=False),  # one bit a dimension: see `retrieval.nearest`
)

restated = Table(
    "restated",
    metadata,
    Column("memory", BigInteger, primary_key=True, autoincrement=False),  # its vector is of old
)

state = Table(
    "state",
    metadata,
    Column("namespace", Integer, primary_key=True),
    Column("name", Words, primary_key=True),
    Column("value", Text, nullable=False),  # JSON
)
