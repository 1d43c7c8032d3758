"""The REST API for memory."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Path as PathParam

from agent.errors import NotFound, UsageError
from agent.memory.kinds import INTERNAL
from agent.memory.memory_api import Memory
from agent.memory.memory_types import Hit
from agent.serve.schemas import Done, MemoryGraph, MemoryRow, RememberForm
from agent.serve.server_state import Limit, MemoryDep

Id = Annotated[int, PathParam(ge=1, le=2**62)]
memory_routes = APIRouter(prefix="/api/memory", tags=["memory"])


@memory_routes.get("")
def listed(
    memory: MemoryDep,
    q: Annotated[str, Query(max_length=400)] = "",
    kind: Annotated[str, Query(max_length=40)] = "",
    limit: Limit = 50,
) -> list[MemoryRow]:
    """Search memories; without a query, list the newest."""
    return search_memory(memory, q, kind, limit)


@memory_routes.get("/graph")
def graph(memory: MemoryDep) -> MemoryGraph:
    """Return the memories with the most links, and the links between them."""
    found = memory.graph()
    return MemoryGraph(memories=[*map(memory_row, found.memories)], links=list(found.links))


@memory_routes.post("", status_code=201)
def remember(memory: MemoryDep, form: RememberForm) -> Done:
    """Save a value under a key."""
    memory.remember(form.key, form.value)
    return Done()


@memory_routes.get("/{number}")
def one(memory: MemoryDep, number: Id) -> MemoryRow:
    """Return one memory in full."""
    return memory_row(_find(memory, number))


@memory_routes.delete("/{number}")
def forget(memory: MemoryDep, number: Id) -> Done:
    """Permanently delete a memory."""
    memory.delete([_find(memory, number, own=True).id])
    return Done()


@memory_routes.post("/{number}/trust")
def trust(memory: MemoryDep, number: Id) -> Done:
    """Mark a memory as the user's own statement."""
    memory.trust(_find(memory, number, own=True).id)
    return Done()


def search_memory(memory: Memory, query: str, kind: str, limit: int) -> list[MemoryRow]:
    """Return the memories closest to a query; without one, the newest."""
    kinds = [kind] if kind else None
    if query.strip():
        return [*map(memory_row, memory.search(query, limit, kinds))]
    newest = memory.newest(kinds, limit)[::-1]
    # Internal counters are returned only to clients that request their kind.
    return [memory_row(hit) for hit in newest if kind or hit.kind != INTERNAL]


def _find(memory: Memory, number: int, *, own: bool = False) -> Hit:
    """Find a memory. Raises `NotFound`; with `own`, a shared memory raises `UsageError`."""
    hit = memory.get(number)
    if hit is None:
        raise NotFound(f"no memory has the id {number}")
    if own and hit.shared:
        raise UsageError(f"memory {number} is shared", hint="Change it in the namespace `shared`.")
    return hit


def memory_row(hit: Hit) -> MemoryRow:
    """Return a memory in the format sent to clients."""
    return MemoryRow(
        id=hit.id,
        key=hit.key,
        kind=hit.kind,
        text=hit.text,
        at=hit.at.isoformat() if hit.at else None,
        run=hit.origin.run,
        url=hit.origin.url,
        trusted=hit.origin.trusted,
        shared=hit.shared,
        confidence=hit.confidence,
        score=round(hit.score, 3),
    )
