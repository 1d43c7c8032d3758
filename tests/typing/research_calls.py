"""Calls as users write them: `make check` type-checks them, and each `ignore` must be needed."""

from __future__ import annotations

from pathlib import Path

from urchin_research import Report, research, research_sync


def plain() -> Report:
    return research_sync("Who repaired the pump?", corpus="notes/", search=["corpus"])


async def with_flags() -> float | None:
    report = await research("Who?", depth="quick", max_steps=5, file=[Path("a.md")], memory=False)
    return report.confidence


def mistyped_name() -> None:
    research_sync("Who?", dept="quick")  # type: ignore[call-arg]


def mistyped_value() -> None:
    research_sync("Who?", max_steps="five")  # type: ignore[arg-type]


async def result_is_typed() -> int:
    return (await research("Who?")).answer  # type: ignore[return-value]
