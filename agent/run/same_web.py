"""The web as a run recorded it, for another model to search and read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent.errors import ToolError
from agent.guard import Secrets
from agent.protocol import CallResult
from agent.tools import Limits, ToolContext
from agent.tools.policy import result_data
from agent.tools.web import WEB_TOOLS, fetch_result, read_result
from browser.net.url import normalize

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.loop import Caller
    from agent.run.record import RunRecord
    from agent.tools.context import Record
    from agent.types import ToolCall

_TOOLS = {tool.name: tool for tool in WEB_TOOLS}
_READING = ("READ", "FETCH_URL")


class SameWeb:
    """Tool calls of another model on the recorded web: known ones are answered from the record.

    A search is known by its words, a page by its address, whatever is asked of it. The others go
    to `live` where there is one, and are errors where there is none.
    """

    def __init__(self, record: RunRecord, note: Record, live: Caller | None) -> None:
        self._note = note
        self._live = live
        self._results = {_asked(name, param): r for name, param, r in record.results.values()}
        self._pages = _Pages(record)

    async def run(self, call: ToolCall, place: str) -> Callable[[], CallResult]:
        """Find the result of the same call anywhere in the record."""
        found = self._results.get(_asked(call.name, call.param)) or self._pages.shown(call)
        if found is None and self._live is not None:
            return await self._live.run(call, place)
        result = found or CallResult(
            call.name,
            {"error": f"not in the record: {call.name} {call.param}"},
            hint="Only what the recorded run searched and read is there. " + ToolError.hint,
        )
        return lambda: self._noted(call, place, result)

    def _noted(self, call: ToolCall, place: str, result: CallResult) -> CallResult:
        self._note("tool.result", place, **result_data(call, result))
        return result


class _Pages:
    """The pages on record, to be read with another query, or from another passage on."""

    def __init__(self, record: RunRecord) -> None:
        self._pages = {normalize(page.url): (page, part) for page, part in record.pages()}
        self._evidence = record.evidence()
        self._context = ToolContext(
            question=record.question,
            evidence=self._evidence,
            limits=Limits(),
            record=_nothing,
            keep=record.folder.keep,
            secrets=Secrets(record.question),
        )

    def shown(self, call: ToolCall) -> CallResult | None:
        """Show a page as the tool does; None where it is not on record."""
        arguments = _arguments(call.name, call.param) if call.name in _READING else None
        if arguments is None or normalize(arguments.url) not in self._pages:
            return None
        page, part = self._pages[normalize(arguments.url)]
        context = replace(self._context, evidence=self._evidence.part(part))
        if call.name == "READ":
            made = read_result(context, page, arguments)
        else:
            made = fetch_result(context, page)
        capped = _TOOLS[call.name].capped
        return CallResult(
            call.name,
            made.data,
            made.web,
            made.label,
            made.hint,
            capped=capped,
            passages=made.passages,
        )


def _asked(name: str, param: str) -> tuple[str, str]:
    """What a call asks for: the same words in another form or case are the same search."""
    arguments = _arguments(name, param)
    if arguments is None:
        return name, param
    fields = arguments.model_dump(exclude_defaults=True)
    if "query" in fields:
        fields["query"] = " ".join(fields["query"].casefold().split())
    return name, repr(sorted(fields.items()))


def _arguments(name: str, param: str) -> Any:
    """Read what a tool of the web is asked; None where it is none, or asked in a wrong way."""
    tool = _TOOLS.get(name)
    try:
        return tool.read(param).arguments if tool else None
    except ToolError:
        return None


def _nothing(_kind: str, _place: str = "", **_data: Any) -> None:
    """What is on record needs no record."""
