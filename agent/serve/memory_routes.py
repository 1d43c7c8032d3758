"""The REST interface of what is remembered."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Path as InPath

from agent.errors import NotFound, UsageError
from agent.memory.kinds import INTERNAL
from agent.memory.memory_api import Memory
from agent.memory.memory_types import Hit
from agent.serve.forms import Done, MemoryGraph, MemoryRow, RememberForm
from agent.serve.office import InOffice, Limit

Id = Annotated[int, InPath(ge=1, le=2**62)]
memory_routes = APIRouter(prefix="/api/memory", tags=["memory"])


@memory_routes.get("")
async def listed(
    office: InOffice,
    q: Annotated[str, Query(max_length=400)] = "",
    kind: Annotated[str, Query(max_length=40)] = "",
    limit: Limit = 50,
) -> list[MemoryRow]:
    """Search what is remembered; without words the newest."""
    found = await remembered(await office.memory(), q, kind, limit)
    return [row_of(hit) for hit in found]


@memory_routes.get("/graph")
async def graph(office: InOffice) -> MemoryGraph:
    """Give the memories that have the most links, and the links among them."""
    found = await asyncio.to_thread((await office.memory()).graph)
    return MemoryGraph(memories=[row_of(hit) for hit in found.memories], links=list(found.links))


@memory_routes.post("", status_code=201)
async def remember(office: InOffice, form: RememberForm) -> Done:
    """Keep a value under a key."""
    memory = await office.memory()
    await asyncio.to_thread(memory.remember, form.key, form.value)
    return Done()


@memory_routes.get("/{number}")
async def one(office: InOffice, number: Id) -> MemoryRow:
    """Give one memory whole."""
    return row_of(await _hit(await office.memory(), number))


@memory_routes.delete("/{number}")
async def forget(office: InOffice, number: Id) -> Done:
    """Forget a memory for good."""
    memory = await office.memory()
    hit = await _hit(memory, number, own=True)
    await asyncio.to_thread(memory.delete, [hit.id])
    return Done()


@memory_routes.post("/{number}/trust")
async def trust(office: InOffice, number: Id) -> Done:
    """Take a memory for the person's own word."""
    memory = await office.memory()
    await asyncio.to_thread(memory.trust, (await _hit(memory, number, own=True)).id)
    return Done()


async def remembered(memory: Memory, query: str, kind: str, limit: int) -> list[Hit]:
    """Search what is remembered; without words the newest first, the engine's counters left out."""
    kinds = [kind] if kind else None
    if query.strip():
        return await asyncio.to_thread(memory.search, query, limit, kinds)
    newest = await asyncio.to_thread(memory.newest, kinds, limit)
    return [hit for hit in newest[::-1] if kind or hit.kind != INTERNAL]


async def _hit(memory: Memory, number: int, *, own: bool = False) -> Hit:
    hit = await asyncio.to_thread(memory.get, number)
    if hit is None:
        raise NotFound(f"no memory has the id {number}")
    if own and hit.shared:
        raise UsageError(f"{number} is shared by all", hint="Change it in the namespace `shared`.")
    return hit


def row_of(hit: Hit) -> MemoryRow:
    """Write a memory as it goes out."""
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
        score=round(hit.score, 3),
    )
