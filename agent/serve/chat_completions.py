"""`/v1/chat/completions` and `/v1/models`: a run as a model, for clients of OpenAI's interface.

The last message of the person is the question. A conversation is that of the run whose answer
stands in the messages before it; one that began elsewhere is laid down as a conversation first.
What is streamed as content is the checked answer, never a draft: steps come before it as
`reasoning_content`, which Open WebUI, LibreChat and others fold away. Sources are annotations
(`url_citation`: the place of each marker in the content) and stand below the answer as lines.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from typing import Any, Final, Literal

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from agent.config import APP
from agent.errors import InternalError, NotFound, UsageError, error_kind
from agent.journal.events import Event, read_event
from agent.serve.desk import LiveRun
from agent.serve.office import InOffice, Office
from agent.types import Report

MODELS: Final[dict[str, dict[str, Any]]] = {
    "urchin": {},
    "urchin-quick": {"depth": "quick"},
    "urchin-deep": {"depth": "deep"},
    "urchin-report": {"depth": "deep", "report": True},
}
"""What a client can name, and the settings that it stands for."""
KEPT_SECONDS: Final = 0.02
"""Between two looks whether a report that was told is on disk, too."""
_MARKER: Final = re.compile(r"\[(\d{1,3})\]")
_PIECE: Final = re.compile(r"\S*\s*")


class TextPart(BaseModel):
    """A part of a message; only texts are read."""

    model_config = ConfigDict(extra="ignore")

    type: str
    text: str = Field("", max_length=200_000)


class ChatMessage(BaseModel):
    """A message of a conversation."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart] | None = None

    @property
    def text(self) -> str:
        """Its words."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(BaseModel):
    """Whether a stream ends with what was used."""

    include_usage: bool = False


class ChatForm(BaseModel):
    """What OpenAI's clients send; what no run knows (temperature, …) is taken and left aside."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field("urchin", max_length=200)
    messages: list[ChatMessage] = Field(min_length=1, max_length=1_000)
    stream: bool = False
    stream_options: StreamOptions | None = None


_ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"application/json": {}, "text/event-stream": {}}}
}
chat_routes = APIRouter(prefix="/v1", tags=["OpenAI-compatible"])


@chat_routes.get("/models")
async def models() -> dict[str, Any]:
    """List what can be named as a model."""
    return {"object": "list", "data": [_model(name) for name in MODELS]}


@chat_routes.get("/models/{name}")
async def model(name: str) -> dict[str, Any]:
    """Describe one."""
    if name not in MODELS:
        raise NotFound(f"no model {name[:80]}", hint=f"There are {', '.join(MODELS)}.")
    return _model(name)


@chat_routes.post("/chat/completions", response_class=Response, responses=_ANSWERS)
async def complete(office: InOffice, form: ChatForm) -> Response:
    """Research the last message of the person; with `stream` as server-sent events."""
    live = await _begun(office, form)
    if form.stream:
        return StreamingResponse(_chunks(office, live, form), media_type="text/event-stream")
    try:
        report = await _report(office, live)
    except asyncio.CancelledError:  # the client has gone
        live.tell(stop=True)
        raise
    body = _completion(report, form.model)
    return Response(json.dumps(body, ensure_ascii=False), media_type="application/json")


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": APP}


async def _begun(office: Office, form: ChatForm) -> LiveRun:
    name = form.model.rpartition("/")[2]  # some clients put a provider before it
    if name not in MODELS:
        raise NotFound(f"no model {form.model!r}", hint=f"There are {', '.join(MODELS)}.")
    said = [message for message in form.messages if message.role in ("user", "assistant")]
    if not said or said[-1].role != "user" or not said[-1].text.strip():
        raise UsageError("the last message is no question of a person")
    given = [m.text for m in form.messages if m.role in ("system", "developer") and m.text.strip()]
    flags = dict(MODELS[name])
    if given:
        flags["instruction"] = "\n".join(given)
    if said[:-1] and office.options.memory:
        flags["session"] = await _conversation(office, said[:-1])
    return await office.desk.ask(said[-1].text.strip(), flags)


async def _conversation(office: Office, before: list[ChatMessage]) -> str:
    """Name the conversation of messages; one that we do not know is laid down first."""
    answers = [message.text for message in before if message.role == "assistant"]
    if answers:
        answer = _MARKED.split(answers[-1])[0].strip()
        known = await asyncio.to_thread(office.library.session_of_answer, answer)
        if known:
            return known
    told = json.dumps([[m.role, m.text] for m in before])
    name = f"chat-{sha256(told.encode()).hexdigest()[:16]}"
    memory = await office.memory()
    if not await asyncio.to_thread(memory.turns, name, 1):
        for message in before:
            await asyncio.to_thread(memory.append_turn, name, message.role, message.text)
    return name


async def _events(office: Office, live: LiveRun) -> AsyncIterator[Event]:
    """Yield the events of a run to its report; raises `InternalError` where it ends without one."""
    async for frame in office.desk.tail(office.find(live.id)).watch():
        if frame.startswith(b"id: "):  # what has no number says nothing to who only waits
            event = read_event(frame.partition(b"data: ")[2].rstrip(b"\n"), live.id)
            if event.type == "run.finished":
                await _kept(office, live)
                yield event
                return
            yield event
    raise InternalError(f"the run {live.id} ended without a report")


async def _kept(office: Office, live: LiveRun) -> None:
    """Wait until the report is on disk, too: the next question looks for its answer there."""
    report, ended = office.find(live.id).report, asyncio.ensure_future(live.ended.wait())
    while not (report.is_file() or ended.done()):
        await asyncio.wait([ended], timeout=KEPT_SECONDS)
    ended.cancel()


async def _report(office: Office, live: LiveRun) -> Report:
    """Wait for the report; raises what the run failed with."""
    events = [event async for event in _events(office, live)]
    report = Report.model_validate(events[-1].data["report"])
    if report.error is not None:
        raise error_kind(report.error.type)(report.error.message, hint=report.error.hint)
    return report


_SOURCES: Final = "\n\nSources:\n"
_MARKED: Final = re.compile(r"\n\nSources:\n(?=\[\d)")
_NOTHING: Final = "Nothing was found that answers this."


def content_of(report: Report) -> str:
    """Write an answer as a message: the answer, and a line for each source."""
    lines = [f"[{s.n}] {s.title or s.url} — {s.url}" for s in report.sources]
    answer = report.answer or _NOTHING
    return answer + (_SOURCES + "\n".join(lines) if lines else "")


def annotations_of(report: Report, content: str) -> list[dict[str, Any]]:
    """Say of each marker of the answer where in the content it stands, and what it cites."""
    sources = {source.n: source for source in report.sources}
    end = len(report.answer)
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": match.start(),
                "end_index": match.end(),
                "url": sources[int(match[1])].url,
                "title": sources[int(match[1])].title,
            },
        }
        for match in _MARKER.finditer(content[:end])
        if int(match[1]) in sources
    ]


def _usage(report: Report) -> dict[str, int]:
    read, written = report.usage.input_tokens, report.usage.output_tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _completion(report: Report, model: str) -> dict[str, Any]:
    content = content_of(report)
    message = {
        "role": "assistant",
        "content": content,
        "refusal": None,
        "annotations": annotations_of(report, content),
    }
    return {
        "id": f"chatcmpl-{report.run}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": _why(report)}],
        "usage": _usage(report),
    }


def _why(report: Report) -> str:
    return "length" if report.status == "partial" else "stop"


async def _chunks(office: Office, live: LiveRun, form: ChatForm) -> AsyncIterator[bytes]:
    """Yield the chunks of a stream: steps, then the checked answer, then its annotations."""
    head = {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": form.model,
    }

    def chunk(delta: dict[str, Any], why: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": why}
        return _event({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    report: Report | None = None
    try:
        async for event in _events(office, live):
            for line in office.told(event):
                yield chunk({"reasoning_content": f"{line}\n"})
            if event.type == "run.finished":
                report = Report.model_validate(event.data["report"])
    except InternalError as error:
        yield _error("InternalError", str(error))
        return
    finally:
        if report is None:  # the client has gone
            live.tell(stop=True)
    assert report is not None, "the events end with it"
    if report.error is not None:
        yield _error(report.error.type, report.error.message)
        return
    for answer in _answer(report):
        yield chunk(*answer)
    if form.stream_options and form.stream_options.include_usage:
        yield _event({**head, "choices": [], "usage": _usage(report)})
    yield b"data: [DONE]\n\n"


def _answer(report: Report) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Give the pieces of an answer, each with why it ends there, if it does."""
    content = content_of(report)
    for piece in filter(None, _PIECE.findall(content)):
        yield {"content": piece}, None
    yield {"annotations": annotations_of(report, content)}, _why(report)


def _error(kind: str, said: str) -> bytes:
    return _event({"error": {"message": said, "type": kind, "code": None}})


def _event(body: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()
