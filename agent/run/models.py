"""Resolves a run's model by name, opens it with its fallbacks, and redacts its replies."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from agent.config import host_port, make_plugin
from agent.guard.redact import StreamRedactor
from agent.keyless.model import ExtractiveModel
from agent.limits import STANDARD_LIMITS
from agent.loop.guided import GuidedModel
from agent.loop.judge import PluginJudge
from agent.models.base import ModelWrapper, ask_model
from agent.models.providers import (
    EXTRACTIVE,
    SCRIPTED,
    find_endpoint,
    is_small,
    remote_model,
)
from browser.imports import import_in_background
from browser.net.egress import Egress, EgressPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AsyncExitStack

    from agent.guard.redact import Redactor
    from agent.limits import DepthLimits
    from agent.models.base import Model, ModelReply, OnText
    from agent.models.providers import Endpoint
    from agent.options import Options
    from agent.types import Message


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A run's model before it is opened: either `local`, or at an `endpoint`."""

    options: Options
    environ: Mapping[str, str]
    local: Model | None = None
    endpoint: Endpoint | None = None

    @property
    def name(self) -> str:
        """The model's name, as recorded."""
        model = self.local or self.endpoint
        return model.name if model else ""

    @property
    def guided(self) -> bool:
        """Whether to use guided mode: the model is small, or a flag requests it."""
        if self.endpoint is None:
            return False
        if self.options.guided is not None:
            return self.options.guided
        return is_small(self.endpoint.model)

    @property
    def directed_by_code(self) -> bool:
        """Whether code chooses the tool calls: for the extractive model and in guided mode."""
        return self.guided or isinstance(self.local, ExtractiveModel | GuidedModel)

    async def open(self, stack: AsyncExitStack, note: Callable[[str], object]) -> Model:
        """Open the model with its fallbacks, in guided mode if it is small.

        `note` is called with a message for each model that failed and was skipped. Raises
        `UsageError` for an unknown fallback.
        """
        options = self.options
        model = self.local or await open_endpoint(stack, options, self.endpoint)
        if self.guided:
            model = GuidedModel(model, options.depth_limits)
        if not options.fallback:
            return model
        from agent.models.router import Router  # noqa: PLC0415 - few runs have fallbacks

        # Resolved now, so that a wrong name is reported immediately; opened only when needed.
        fallbacks = [
            find_endpoint(name, None, self.environ, options) or _local_model(name)
            for name in options.fallback
        ]
        return Router([model, *fallbacks], partial(open_endpoint, stack, options), note)

    async def open_judge(self, stack: AsyncExitStack) -> Model | PluginJudge | None:
        """Open the judge model; returns None if the run's model judges."""
        judge = self.options.judge
        if judge is None:
            return None
        if judge.isidentifier() and judge != EXTRACTIVE:
            plugged = make_plugin("judges", judge)
            if plugged is not None:
                return PluginJudge(plugged)
        return await open_model(stack, judge, self.options, self.environ)


def resolve_model(options: Options, own: Model | None, environ: Mapping[str, str]) -> ResolvedModel:
    """Find a run's model: the caller's (`own`), or else the one in the settings.

    Raises `UsageError` for an unknown model.
    """
    if own is not None:
        return ResolvedModel(options, environ, own)
    endpoint = find_endpoint(options.model, options.base_url, environ, options)
    if endpoint is None:
        return ResolvedModel(options, environ, _local_model(options.model, options.depth_limits))
    import_in_background(f"agent.models.{endpoint.api}")
    return ResolvedModel(options, environ, endpoint=endpoint)


async def open_model(
    stack: AsyncExitStack, name: str | None, options: Options, environ: Mapping[str, str]
) -> Model:
    """Open a model by name (None for the default); raises `UsageError` for an unknown model."""
    endpoint = find_endpoint(name, options.base_url, environ, options)
    return await open_endpoint(stack, options, endpoint) if endpoint else _local_model(name)


async def open_endpoint(
    stack: AsyncExitStack, options: Options, endpoint: Endpoint | None
) -> Model:
    """Open a model at an endpoint, through its own egress proxy.

    The user named the endpoint, so its address may be private. Pages must not reach private
    addresses, which is why the web has a separate proxy.
    """
    assert endpoint is not None, "a model that is not local has an endpoint"
    if endpoint.api == "local":
        from agent.models.local import serve_model_file  # noqa: PLC0415 - few models are files

        serving = serve_model_file(endpoint.model, options.context_window)
        address = await stack.enter_async_context(serving)
        endpoint = replace(endpoint, base_url=address, model="", api="openai")
    private = (host_port(endpoint.base_url),) if endpoint.base_url else ()
    allowed = EgressPolicy(allow_private=private, upstream_proxy=options.proxy)
    egress = await stack.enter_async_context(Egress(allowed))
    # In a thread, because importing the client may take half a second.
    model = await asyncio.to_thread(remote_model, endpoint, egress.proxy_url)
    stack.push_async_callback(model.aclose)
    return model


def _local_model(name: str | None, limits: DepthLimits = STANDARD_LIMITS) -> Model:
    """Create a model without an endpoint: scripted, from a plug-in, or extractive.

    Raises `UsageError` for a script that is missing or invalid.
    """
    if not name or name == EXTRACTIVE:
        return ExtractiveModel(limits)
    if name.startswith(SCRIPTED):
        from agent.models.scripted import ScriptedModel  # noqa: PLC0415 - for tests and demos

        return ScriptedModel.from_file(name.removeprefix(SCRIPTED))
    prefix, _, rest = name.partition("/")
    plugged: Model | None = make_plugin("models", prefix, rest)
    return plugged or ExtractiveModel(limits)


class RedactingModel(ModelWrapper):
    """Redacts secrets in a model's replies.

    Requests do not contain secrets, as messages and tool results are redacted when created.
    """

    streams = True

    def __init__(self, model: Model, redactor: Redactor) -> None:
        super().__init__(model)
        self._redactor = redactor

    async def reply(
        self, system: str, messages: Sequence[Message], on_text: OnText | None = None
    ) -> ModelReply:
        """Return the model's reply to the last message, with secrets redacted."""
        stream = StreamRedactor(self._redactor, on_text) if on_text else None
        reply = await ask_model(self._model, system, messages, stream)
        if stream:
            stream.end()
        return replace(reply, text=self._redactor.text(reply.text))

    def start_guided_mode(self) -> None:
        """Start guided mode: rules direct the research, and the model only picks the answer."""
        if not isinstance(self._model, GuidedModel | ExtractiveModel):
            self._model = GuidedModel(self._model)
