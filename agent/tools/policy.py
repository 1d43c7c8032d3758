"""The one place where a tool call is decided, made and recorded."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from agent.errors import ResearchError, ToolError
from agent.journal.messages import image_rows
from agent.protocol.results import CallResult, to_json
from agent.tools.checks import CHECKS, Changed
from agent.tools.context import NO_BROWSER, PATIENCE, PLACE
from agent.tools.registry import Risk, Tool, ToolResult
from agent.types import Image
from browser.errors import AttachFailed, BrowserError, BrowserMissing, LaunchFailed, RefError

if TYPE_CHECKING:
    from agent.tools.context import ToolContext
    from agent.tools.registry import Finish, Registry
    from agent.types import ToolCall

Finished = Callable[[], CallResult]
Check = Callable[["ToolContext", Tool, Any], Awaitable[Changed | None]]
"""Looks at a call before it is made, may change it; raises `ToolError` to refuse it."""


class Policy:
    """Runs tool calls: only known tools, only what the checks let through, every one on record.

    A failing call becomes a result with an error and a hint; it never ends the run. Calls on the
    open page are made one after the other, in the order of the reply; where one that acts on it
    fails, the later acts of that reply are not done, since they were meant for what it brings.
    """

    def __init__(
        self, tools: Registry, context: ToolContext, checks: tuple[Check, ...] = CHECKS
    ) -> None:
        self._tools = tools
        self._context = context
        self._checks = checks
        self._page_turn = asyncio.Lock()
        self._failed_act: dict[str, str] = {}  # place of a step -> what failed in it first

    async def run(self, call: ToolCall, place: str) -> Finished:
        """Make a call. The result comes from the function given back, to be asked in tag order."""
        tool = self._tools.get(call.name)
        step = place.rpartition("/")[0]
        async with self._page_turn if _on_open_page(tool, call) else nullcontext():
            started = time.monotonic()
            try:
                made = await self._made(tool, call, place, self._failed_act.get(step))
            # Whatever a tool raises becomes a result, a fault of ours too: no run is lost to it.
            except Exception as error:  # noqa: BLE001
                made = _failure(error)
                if tool is not None and (tool.acts or tool.name == "OPEN"):
                    self._failed_act.setdefault(step, tool.name)
            elapsed = int((time.monotonic() - started) * 1000)
        return lambda: self._finish(call, place, made, elapsed)

    async def _made(self, tool: Tool | None, call: ToolCall, place: str, failed: str | None) -> Any:
        if tool is None:
            why = self._tools.off.get(call.name)
            said = f"{call.name} is off: {why}" if why else f"Unknown tool: {call.name}"
            return ToolResult({"error": said})
        if failed and tool.acts:
            raise ToolError(
                f"not done: {failed} before it in this reply failed",
                hint="See what it says, then act again.",
            )
        arguments = self._arguments(tool, call, place)
        told: dict[str, str] = {}
        for check in self._checks:
            if changed := await check(self._context, tool, arguments):
                arguments, told = changed
        if tool.risk is not Risk.READ:
            self._context.record("tool.intent", place, name=call.name, param=call.param)
        seconds = self._context.seconds_left(tool.seconds or self._context.limits.call_seconds)
        try:
            async with asyncio.timeout(seconds) as patience:
                PATIENCE.set(patience)
                PLACE.set(place)
                made = await tool.run(self._context, arguments)
        except TimeoutError as error:
            raise ToolError(f"no answer within {seconds:.0f} s") from error
        return partial(_telling, made, told) if told else made

    def _arguments(self, tool: Tool, call: ToolCall, place: str) -> Any:
        """Read a call's parameter; what had to be made out is on record."""
        reading = tool.read(call.param)
        if reading.tier:
            self._context.record(
                "call.mended",
                place,
                name=call.name,
                param=call.param,
                tier=reading.tier,
                into=_as_json(reading.arguments),
            )
        return reading.arguments

    def _finish(self, call: ToolCall, place: str, made: Any, ms: int) -> CallResult:
        try:
            result: ToolResult = made() if callable(made) else made
        except (BrowserError, ResearchError) as error:
            result = _failure(error)
        tool = self._tools.get(call.name)
        redactor = self._context.redactor
        said = redactor.text
        outcome = CallResult(
            call.name,
            self._context.with_hints(redactor.value(result.data)),
            said(result.web),
            result.label,
            result.hint,
            capped=tool.capped if tool else True,
            images=tuple(self._image(picture) for picture in result.pictures),
            # A passage is literal or it is none: one that a secret stands in is not given on.
            passages=tuple(p for p in result.passages if said(p.text) == p.text),
            results=tuple(
                replace(r, url=said(r.url), title=said(r.title), snippet=said(r.snippet))
                for r in result.results
            ),
            snapshot=said(result.snapshot),
        )
        kept = dict(self._kept(result))
        self._context.record("tool.result", place, **result_data(call, outcome, ms, kept))
        return outcome

    def _kept(self, result: ToolResult) -> list[tuple[str, str]]:
        return [(name, self._context.keep(body)) for name, body in result.blobs]

    def _image(self, picture: bytes) -> Image:
        kind = "image/png" if picture.startswith(b"\x89PNG") else "image/jpeg"
        return Image(kind, picture, self._context.keep(picture))


def _telling(made: ToolResult | Finish, told: dict[str, str]) -> ToolResult:
    """Say in a result what a check changed about its call."""
    result = made() if callable(made) else made
    return replace(result, data={**result.data, **told})


def _as_json(arguments: Any) -> Any:
    if isinstance(arguments, dict):
        return arguments
    return arguments.model_dump(mode="json", exclude_unset=True)


def _on_open_page(tool: Tool | None, call: ToolCall) -> bool:
    """Tell calls that need the page as those before them left it: READ without an address too."""
    if tool is None:
        return False
    return tool.on_page or tool.name == "OPEN" or (tool.name == "READ" and "://" not in call.param)


def result_data(
    call: ToolCall, result: CallResult, ms: int = 0, blobs: dict[str, str] | None = None
) -> dict[str, Any]:
    """What the record keeps of a result: all that is needed to give it again."""
    return {
        "name": call.name,
        "param": call.param,
        "data": json.loads(to_json(result.data)),
        "capped": result.capped,
        "web": result.web,
        "label": result.label,
        "hint": result.hint,
        "ms": ms,
        "blobs": blobs or {},
        **({"images": image_rows(result.images)} if result.images else {}),
        **observed_kept(result),
    }


def observed_kept(result: CallResult) -> dict[str, Any]:
    """What the record keeps of a result as data: ids of passages, hits, the snapshot's length.

    A snapshot is what the web text begins with, so that its length in characters is enough.
    """
    whole = result.web.startswith(result.snapshot)
    kept = {
        "passages": [passage.id for passage in result.passages],
        "results": [[hit.url, hit.title, hit.snippet] for hit in result.results],
        "snapshot": len(result.snapshot) if whole else 0,
    }
    return {name: value for name, value in kept.items() if value}


def _failure(error: Exception) -> ToolResult:
    data: dict[str, Any] = {"error": str(error) or type(error).__name__}
    if isinstance(error, RefError) and error.candidates:
        data["candidates"] = list(error.candidates)
    if isinstance(error, AttachFailed | BrowserMissing | LaunchFailed):
        data["outcome"] = NO_BROWSER
    if isinstance(error, BrowserError | ResearchError):
        return ToolResult(data, hint=error.hint)
    return ToolResult(data)
