"""PYTHON: computes values in a sandbox from numbers that the run has read (`compute` extra).

The code has no access to files, the network or environment variables. Its inputs come through
`figure`, `table` and `number`, so that each can be traced to its passage. The result becomes a
separate source, which lists the inputs and the code.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from agent.errors import ToolError
from agent.evidence.passages import is_table_rule, split_row
from agent.evidence.tokens import NUMBER_SCALES
from agent.tools.registry import Group, ToolResult, reading_tool, sends_nothing
from agent.tools.sources import register_source, show_passages
from browser.text.words import clean
from browser.types import Document, Outcome, Page

if TYPE_CHECKING:
    from agent.evidence.store import Evidence
    from agent.tools.context import ToolContext
    from agent.tools.registry import Finish
    from agent.types import Passage

MAX_SECONDS: Final = 5.0
"""Time limit in seconds: arithmetic over a few tables takes milliseconds; this stops infinite
loops.
"""
MAX_MEMORY_BYTES: Final = 64 * 1024 * 1024
"""Memory limit in bytes: the largest tables take a few megabytes."""
MAX_CODE_CHARS, MAX_RESULT_CHARS = 8_000, 4_000
"""Maximum lengths in characters."""
_SANDBOX_LIMITS: Final = {
    "max_feed_duration_secs": MAX_SECONDS,
    "max_memory": MAX_MEMORY_BYTES,
    "max_suspensions": 5_000,
}
_NO_INPUT: Final = "figures in the code, not from a source"
_SCALES: Final = {**NUMBER_SCALES, "k": 1e3, "m": 1e6}
_FIGURE_RE = re.compile(r"([-−–]?)\s*[^\w\s]?\s*(\d[\d.,'’\s]*)\s*([a-z]*)", re.IGNORECASE)
_CODE_HINT = (
    'Figures come in as figure("S3¶12", "31.4 million"), tables as table("S3¶5"): rows of texts, '
    "the column names first; number(text) reads a cell. The last expression is the result."
)


@dataclass(slots=True)
class _Inputs:
    """The functions that the code can call; `used` collects the inputs as (passage id, words)."""

    evidence: Evidence
    used: dict[tuple[str, str], None] = field(default_factory=dict)
    _cells: dict[str, str] = field(default_factory=dict)  # text of a cell -> passage id of its row

    def figure(self, passage: str, words: str) -> float:
        """Return the number in `words`; raises `ValueError` if the passage lacks these words."""
        found = self._passage(passage)
        if not words.strip() or " ".join(words.split()) not in " ".join(found.text.split()):
            raise ValueError(f"“{words}” does not appear in {passage}")
        value = number(words)
        self.used[passage, words] = None
        return value

    def table(self, passage: str) -> list[list[str]]:
        """Return the rows of the table around a passage, starting with the column names."""
        found = self._passage(passage)
        source = self.evidence.source(found.source)
        text = source.text if source else ""
        # Extend the span up and down to include all adjacent rows of the table.
        start, end = found.start, found.end
        while (above := text.rfind("\n", 0, max(0, start - 1)) + 1) < start and text[above] == "|":
            start = above
        while end < len(text) and text[end : end + 2] == "\n|":
            below = text.find("\n", end + 1)
            end = below if below >= 0 else len(text)
        rows = [split_row(line) for line in text[start:end].split("\n") if not is_table_rule(line)]
        if not text[start:end].lstrip().startswith("|"):
            raise ValueError(f"{passage} is not a table row")
        for other in source.passages if source else ():
            if start <= other.start < end:
                self._cells.update(dict.fromkeys(split_row(other.text), other.id))
        return rows

    def number(self, text: str) -> float:
        """Parse a figure; a cell from a table returned earlier counts as an input."""
        value = number(text)
        if text in self._cells:
            self.used[self._cells[text], text] = None
        return value

    def _passage(self, name: str) -> Passage:
        found = self.evidence.passage(name)
        if found is None:
            raise ValueError(f"there is no passage {name}")
        return found


@reading_tool(
    "PYTHON",
    'computes; figure("S3¶12", "31.4 million") and number(table("S3¶5")[1][2]) give what was '
    "read. Cite the result.",
    capped=False,
    sends=sends_nothing,
    activity="computing",
    group=Group.COMPUTING,
    seconds=4 * MAX_SECONDS,
)
async def compute(
    context: ToolContext, *, code: Annotated[str, Field(min_length=1, max_length=MAX_CODE_CHARS)]
) -> Finish:
    """Run the code; a result that is a number, or uses numbers from pages, becomes a source."""
    # Imported here because few runs compute anything.
    from pydantic_monty import AsyncMonty, CollectString, MontyError  # noqa: PLC0415

    inputs, printed = _Inputs(context.evidence), CollectString()
    functions = {"figure": inputs.figure, "table": inputs.table, "number": inputs.number}
    try:
        async with (
            AsyncMonty(max_processes=1, request_timeout=2 * MAX_SECONDS) as pool,
            pool.checkout(limits=_SANDBOX_LIMITS) as session,  # type: ignore[arg-type] # a plain dict
        ):
            value = await session.feed_run(code, external_lookup=functions, print_callback=printed)
    except (MontyError, TimeoutError) as error:
        raise ToolError(f"the code failed: {error}", hint=_CODE_HINT) from error
    try:
        result = _format_value(value) if value is not None else printed.output.strip()
    except (ValueError, OverflowError) as error:  # Python formats integers with up to 4,300 digits
        raise ToolError("the result is too large to show", hint=_CODE_HINT) from error
    if not result:
        raise ToolError("the code returned nothing", hint=_CODE_HINT)
    is_figure = isinstance(value, int | float) and not isinstance(value, bool)
    if not (inputs.used or is_figure):  # text without input from pages cannot be verified
        note = "the result is not a number and uses none from a source, so it cannot be cited"
        shown = ToolResult({"note": note}, result[:MAX_RESULT_CHARS], "computed", hint=_CODE_HINT)
        return lambda: shown
    return lambda: _register_result(context, code, result[:MAX_RESULT_CHARS], inputs)


def _register_result(context: ToolContext, code: str, result: str, inputs: _Inputs) -> ToolResult:
    """Register a computed result as a source, with its inputs and code."""
    # `agent.evidence.answer` parses these lines to find the inputs, so keep the formats in sync.
    origins = []
    for name, words in inputs.used:
        passage = inputs.evidence.passage(name)
        origin = inputs.evidence.source(passage.source) if passage else None
        origins.append(f"- “{words}” in {name}, {origin.title} <{origin.url}>" if origin else name)
    indented = indent(code.strip(), " " * 4, lambda _: True)
    if not origins:
        origins = [f"- {_NO_INPUT}"]
    parts = f"Computed: {result}", "from\n" + "\n".join(origins), "by", indented
    url = f"urn:computed:{len(context.evidence.sources) + 1}"
    document = Document(
        url=url,
        title=f"Computed from {', '.join(dict.fromkeys(n for n, _ in inputs.used)) or _NO_INPUT}",
        text=clean("\n\n".join(parts)),
        kind="text",
    )
    at = datetime.now(UTC)
    page = Page(url, url, "computed", Outcome.OK, at, content_type="text/plain", document=document)
    source = register_source(context, page)
    block, passages = show_passages(context, source)
    data = {"source": source.name, "title": source.title}
    return ToolResult(data, block, source.name, passages=passages)


def _format_value(value: Any) -> str:
    """Format a result; a fraction is followed by all roundings that the answer may use."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, float) and value != int(value or 0):
        rounded = dict.fromkeys(f"{value:,.{places}f}" for places in (0, 1, 2, 3))
        return f"{value!r}, rounded {'; '.join(rounded)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{int(value)}" if abs(value) < 1_000 else f"{int(value)} ({int(value):,})"
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def number(text: str) -> float:
    """Parse a figure in the usual notations: `1,234`, `31.4 million`, `−12 %`, `1.234,5`.

    Raises `ValueError` unless the text contains exactly one figure.
    """
    found = list(_FIGURE_RE.finditer(text))
    if len(found) != 1:
        raise ValueError(f"“{text}” is {'not a number' if not found else 'more than one number'}")
    sign, digits, scale = found[0].groups()
    digits = "".join(digits.rstrip(" .,'’").replace("'", "").replace("’", "").split())
    dot, comma = digits.rfind("."), digits.rfind(",")
    # If there are two kinds of separators, the last one is the decimal separator.
    decimal = max(dot, comma)
    # A single comma may separate thousands, as does any separator that occurs more than once.
    has_thousands = dot < 0 and re.fullmatch(r"\d{1,3}(?:,\d{3})+", digits)
    if decimal < 0 or has_thousands or digits.count(digits[decimal]) > 1:
        decimal = len(digits)
    whole = digits[:decimal].replace(".", "").replace(",", "")
    value = float(f"{whole}.{digits[decimal + 1 :] or 0}")
    if not math.isfinite(value):
        raise ValueError(f"a number with {len(whole)} digits is too large")
    value *= (-1 if sign else 1) * _SCALES.get(scale.lower(), 1)
    return int(value) if value.is_integer() else round(value, 12)


COMPUTING_TOOLS: Final = (compute,)
