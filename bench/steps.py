"""Measures our own time per step with an instant model, and how much of the input is cached.

Runs sixty steps over long results; prints milliseconds per step, what a hundred steps of history
add, the largest request, and the share of input tokens that are a prefix of an earlier request:
providers cache those of all recent requests.
"""

from __future__ import annotations

import asyncio
import sys
import time

from agent.guard.budget import Budget
from agent.guard.window import tokens
from agent.loop.loop import Loop
from agent.models.base import ModelReply
from agent.types import Observation

STEP_MS, LARGEST, PREFIX = 10.0, 32_000, 0.8
TARGETS_MISSED = 8
PAGE = "Words of a long page that say little and cost much. " * 230


class Instant:
    """Answers immediately, and measures what it was sent."""

    name = "instant"

    def __init__(self, steps: int) -> None:
        self.left = steps
        self.before: list[list[str]] = []
        self.sent = self.again = self.largest = 0
        self.looking = 0.0

    async def reply(self, system, messages):
        began = time.perf_counter()
        now = [system, *(message.content for message in messages)]
        same = max((shared(now, other) for other in self.before), default=0)
        sizes = [tokens(text) for text in now]
        self.sent += sum(sizes)
        self.again += sum(sizes[:same])
        self.largest = max(self.largest, sum(sizes))
        self.before.append(now)
        self.left -= 1
        self.looking += time.perf_counter() - began
        return ModelReply(f"<<TOOL:READ:page {self.left}>>" if self.left else "done")

    async def aclose(self):
        pass


def shared(one, other):
    """Return how many leading texts two requests share."""
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return same


class LongPages:
    """Every call returns another long page."""

    async def run(self, call, place):
        data, text = {"source": f"S{place}"}, PAGE + place
        return lambda: Observation(call, data, web=text, label="S1", capped=False)


async def measure(steps: int) -> tuple[Instant, float]:
    """Run this many steps; return the model, and milliseconds per step."""
    from agent.types import Message

    model = Instant(steps)
    loop = Loop(
        model, LongPages(), Budget(max_steps=steps), "system " * 1_000, lambda *_, **__: None
    )
    started = time.perf_counter()
    await loop.run([Message("user", "q")])
    return model, (time.perf_counter() - started - model.looking) * 1000 / steps


def main() -> int:
    """Measure and print; return 8 if a target is missed."""
    model, ms = asyncio.run(measure(60))
    _, longer = asyncio.run(measure(160))
    share = model.again / model.sent
    print(f"a step: {ms:.2f} ms (target {STEP_MS:.0f}); with 100 more: {longer:.2f} ms")
    print(f"largest request: {model.largest:,} tokens (window {LARGEST:,})")
    print(f"prefix already sent: {share:.1%} of {model.sent:,} tokens (target {PREFIX:.0%})")
    good = ms <= STEP_MS and longer - ms <= 3 and model.largest < LARGEST and share >= PREFIX
    return 0 if good else TARGETS_MISSED


if __name__ == "__main__":
    sys.exit(main())
