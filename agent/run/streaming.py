"""Runs as streams of typed events, and batches of questions, for Python programs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias

from agent.export.event_lines import event_lines
from agent.run.research import StartedRun, research

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator

    from agent.journal.events import Event
    from agent.types import Report


@dataclass(frozen=True, slots=True)
class Progress:
    """A step of the run, as displayed by the command line; `text` is one line."""

    text: str


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a model's reply. `restarts` means that the reply starts over from the beginning.

    `place` distinguishes the replies to parallel requests.
    """

    text: str
    restarts: bool
    place: str


@dataclass(frozen=True, slots=True)
class SourceRead:
    """A page or file that was read. It has no number, as sources are renumbered for the answer."""

    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of a stream, which contains the report."""

    report: Report


StreamEvent: TypeAlias = Progress | TextPiece | SourceRead | Finished
Stream: TypeAlias = AsyncGenerator[StreamEvent, None]


P = ParamSpec("P")


# A factory, so that type checkers give `stream` the same parameters as `research`.
def _streaming(run: Callable[P, Coroutine[Any, Any, Report]]) -> Callable[P, Stream]:
    async def events(*args: P.args, **kwargs: P.kwargs) -> Stream:
        """Research a question and yield typed events; the last one is `Finished` with the report.

        Takes the arguments of `research`. Closing the stream early stops the run, which keeps its
        record.
        """
        queue: asyncio.Queue[StreamEvent | None] = asyncio.Queue()

        def note(event: Event) -> None:
            for one in _stream_events(event):
                queue.put_nowait(one)

        started = StartedRun(partial(run, *args, **kwargs), note)
        started.task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (one := await queue.get()) is not None:
                yield one
            yield Finished(await started.task)
        finally:
            started.task.cancel()
            await asyncio.wait([started.task])

    return events


stream = _streaming(research)
"""Research a question and yield typed events; takes `research`'s arguments except `on_event`."""


def _stream_events(event: Event) -> Iterator[StreamEvent]:
    data = event.data
    if event.type == "model.delta":
        yield TextPiece(data["text"], restarts=bool(data["anew"]), place=event.place)
    elif event.type == "source.added":
        yield SourceRead(data["url"], data["title"])
    for line in event_lines(event, surface="python"):
        yield Progress(line)


async def batch(questions: Iterable[str], *, parallel: int = 4, **arguments: Any) -> Any:
    """Research several questions, at most `parallel` at a time; reports keep their order.

    Returns a pandas `DataFrame` with one row per question (`report` has the complete report) if
    pandas is installed, otherwise the list of reports. Takes the arguments of `research`. For
    batches that survive a restart, use `research batch`.
    """
    places = asyncio.Semaphore(parallel)

    async def ask(question: str) -> Report:
        async with places:
            return await research(question, **arguments)

    reports = await asyncio.gather(*map(ask, questions))
    try:
        pandas = import_module("pandas")  # installed by the user; nothing else here needs it
    except ImportError:
        return reports
    rows = [
        {
            "question": report.question,
            "status": report.status,
            "standing": report.standing,
            "doubt": report.doubt,
            "answer": report.answer,
            "confidence": report.confidence,
            "sources": [source.url for source in report.sources],
            "usd": report.usage.usd,
            "report": report,
        }
        for report in reports
    ]
    return pandas.DataFrame(rows)
