"""`/v1/chat/completions` and `/v1/models`, which offer runs as a model to OpenAI API clients.

The user's last message is the question. The conversation is identified by an earlier answer in the
messages; a conversation that began elsewhere is saved first. Only the checked answer is streamed as
content, never a draft. Steps are streamed before the answer as `reasoning_content`, which Open
WebUI, LibreChat and others collapse. Sources are annotations (`url_citation`: the position of each
marker in the content) and are listed below the answer.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Any, Final, Literal

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from agent.errors import InternalError, NotFound, UsageError, error_class
from agent.export.event_lines import event_lines
from agent.export.report_view import CITATION_RE, text_parts
from agent.journal.events import read_event
from agent.memory.memory_types import Turn
from agent.options import APP
from agent.serve.run_manager import ActiveRun
from agent.serve.server_state import ServerState, StateDep
from agent.types import Report

MODELS: Final[dict[str, dict[str, Any]]] = {
    "urchin": {},
    "urchin-quick": {"depth": "quick"},
    "urchin-deep": {"depth": "deep"},
    "urchin-report": {"depth": "deep", "report": True},
}
"""The model names that clients can use, each with its settings."""
SAVE_POLL_SECONDS: Final = 0.02
"""Seconds between checks for the report on disk, after its event was written."""
_SOURCES_HEADING: Final = "\n\nSources:\n"


class ChatMessage(BaseModel):
    """A message of a conversation."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """The text of the message; images and other parts are ignored."""
        if isinstance(self.content, list):
            parts = (part for part in self.content if part.get("type") == "text")
            return "\n".join(str(part.get("text", "")) for part in parts)
        return self.content or ""


class ChatForm(BaseModel):
    """A request from an OpenAI client. Parameters that runs do not support are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field("urchin", max_length=200)
    messages: list[ChatMessage] = Field(min_length=1, max_length=1_000)
    stream: bool = False
    stream_options: dict[str, Any] | None = None


_COMPLETION_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"application/json": {}, "text/event-stream": {}}}
}
chat_routes = APIRouter(prefix="/v1", tags=["OpenAI-compatible"])


@chat_routes.get("/models")
async def models() -> dict[str, Any]:
    """List the models."""
    return {"object": "list", "data": [_model_row(name) for name in MODELS]}


@chat_routes.get("/models/{name}")
async def model(name: str) -> dict[str, Any]:
    """Describe a model."""
    if name not in MODELS:
        raise NotFound(f"no model {name[:80]}", hint=f"Available: {', '.join(MODELS)}.")
    return _model_row(name)


def _model_row(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": APP}


@chat_routes.post("/chat/completions", response_class=Response, responses=_COMPLETION_RESPONSES)
async def complete(state: StateDep, form: ChatForm) -> Response:
    """Research the user's last message; with `stream`, as server-sent events."""
    run = await _start(state, form)
    if form.stream:
        return StreamingResponse(_stream(state, run, form), media_type="text/event-stream")
    async for step in _steps(state, run):
        report = step
    assert isinstance(report, Report), "the last step is the report"
    if report.status == "failed" and report.error is not None:
        raise error_class(report.error.type)(report.error.message, hint=report.error.hint)
    body = _completion(report, form.model)
    return Response(json.dumps(body, ensure_ascii=False), media_type="application/json")


async def _start(state: ServerState, form: ChatForm) -> ActiveRun:
    """Start a run for the last message of a conversation. Raises `NotFound` or `UsageError`."""
    name = form.model.rpartition("/")[2]  # some clients add a provider prefix
    if name not in MODELS:
        raise NotFound(f"no model {form.model!r}", hint=f"Available: {', '.join(MODELS)}.")
    turns = [message for message in form.messages if message.role in ("user", "assistant")]
    if not turns or turns[-1].role != "user" or not turns[-1].text.strip():
        raise UsageError("the last message is not a question from the user")
    *before, last = turns
    flags = dict(MODELS[name])
    # Some clients send several system messages, or an empty one.
    system = [m.text for m in form.messages if m.role in ("system", "developer") and m.text.strip()]
    if system:
        flags["instruction"] = "\n".join(system)
    if before and state.options.memory:
        flags["session"] = await asyncio.to_thread(_session_of, state, before)
    return await state.manager.start(last.text.strip(), flags)


def _session_of(state: ServerState, messages: list[ChatMessage]) -> str:
    """Return the session for the messages, saving the turns of an unknown conversation first."""
    # The library stores answers in the format in which they are sent: the report's `text_parts`.
    answers = [message.text for message in messages if message.role == "assistant"]
    if answers and (session := state.library.session_of_answer(answers[-1].strip())):
        return session
    sent = [(message.role, message.text) for message in messages]
    # If a client resends the same messages, it is the same conversation.
    session = f"chat-{sha256(json.dumps(sent).encode()).hexdigest()[:16]}"
    conversation = state.memory().conversation(session)
    if not conversation.turns(1):
        conversation.append(*(Turn(role, text) for role, text in sent))
    return session


async def _steps(state: ServerState, run: ActiveRun) -> AsyncIterator[str | Report]:
    """Yield a run's steps as lines, then its report. The run stops if the client disconnects.

    Raises `InternalError` if the run ends without a report.
    """
    folder, reported = state.find(run.id), False
    try:
        async for frame in state.manager.event_stream(folder).frames():
            if frame is None or frame.seq is None:  # a draft, or a question to the user
                continue
            event = read_event(frame.data, run.id)
            for line in event_lines(event, surface="api"):
                yield line
            if event.type == "run.finished":
                # Wait until the report is on disk, where the next question looks for it.
                while not (folder.report.is_file() or run.ended.is_set()):  # noqa: ASYNC110 - a file
                    await asyncio.sleep(SAVE_POLL_SECONDS)
                reported = True
                yield Report.model_validate(event.data["report"])
                return
        raise InternalError(f"the run {run.id} ended without a report")
    finally:
        if not reported:
            run.cancel()


def _annotations(report: Report, content: str) -> list[dict[str, Any]]:
    """Return the position and source of each marker in the answer, excluding the source list."""
    sources = {source.n: source for source in report.sources}
    text = content.rpartition(_SOURCES_HEADING)[0] or content
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": match.start(),
                "end_index": match.end(),
                "url": source.url,
                "title": source.title,
            },
        }
        for match in CITATION_RE.finditer(text)
        if (source := sources.get(int(match[1])))
    ]


def _completion(report: Report, model: str) -> dict[str, Any]:
    content = "\n\n".join(text_parts(report))
    message = {
        "role": "assistant",
        "content": content,
        "refusal": None,
        "annotations": _annotations(report, content),
    }
    finish_reason = "length" if report.status == "partial" else "stop"
    read, written = report.usage.input_tokens, report.usage.output_tokens
    return {
        "id": f"chatcmpl-{report.run}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }


async def _stream(state: ServerState, run: ActiveRun, form: ChatForm) -> AsyncIterator[bytes]:
    """Yield the chunks of a stream: steps, then the checked answer, then its annotations."""
    head = {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": form.model,
    }

    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return _sse({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    try:
        async for step in _steps(state, run):
            if isinstance(step, str):
                yield chunk({"reasoning_content": f"{step}\n"})
            else:
                report = step
    except InternalError as error:
        yield _sse_error("InternalError", str(error))
        return
    if report.status == "failed" and report.error is not None:
        yield _sse_error(report.error.type, report.error.message)
        return
    body = _completion(report, form.model)
    [choice] = body["choices"]
    for line in choice["message"]["content"].splitlines(keepends=True):
        yield chunk({"content": line})
    yield chunk({"annotations": choice["message"]["annotations"]}, choice["finish_reason"])
    if (form.stream_options or {}).get("include_usage"):
        yield _sse({**head, "choices": [], "usage": body["usage"]})
    yield b"data: [DONE]\n\n"


def _sse_error(kind: str, message: str) -> bytes:
    return _sse({"error": {"message": message, "type": kind, "code": None}})


def _sse(body: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()
