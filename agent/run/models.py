"""The model of a run: opened by name, with fallbacks behind it, its replies free of secrets."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from agent.config import host_port, make_plugin
from agent.guard.redact import StreamRedactor
from agent.keyless.model import ExtractiveModel
from agent.limits import STANDARD
from agent.loop.guided import GuidedModel
from agent.loop.judge import PluggedJudge
from agent.models.base import ModelWrapper, ask_model
from agent.models.local import serve_model_file
from agent.models.providers import (
    EXTRACTIVE,
    SCRIPTED,
    find_endpoint,
    is_small,
    plugin_model,
    preload_client,
    remote_model,
)
from agent.models.router import LazyModel, Router
from agent.models.scripted import ScriptedModel
from browser.net.egress import Egress, EgressPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AsyncExitStack

    from agent.config import Options
    from agent.guard.redact import Redactor
    from agent.limits import Effort
    from agent.models.base import Model, ModelReply, OnText
    from agent.models.providers import Endpoint
    from agent.types import Message


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """The model that a run was found to have, before anything is opened.

    It is either `local`, which needs no endpoint, or behind one.
    """

    options: Options
    environ: Mapping[str, str]
    local: Model | None = None
    endpoint: Endpoint | None = None

    @property
    def name(self) -> str:
        """What the record calls it."""
        found = self.local or self.endpoint
        return found.name if found else ""

    @property
    def guided(self) -> bool:
        """Tell whether rules drive the loop for it: it is small, or that is asked by flag."""
        if self.endpoint is None:
            return False
        wanted = self.options.guided
        return is_small(self.endpoint.model) if wanted is None else wanted

    @property
    def by_rules(self) -> bool:
        """Tell whether rules make the calls: they know no tools but our own."""
        return self.guided or isinstance(self.local, ExtractiveModel)

    async def open(self, stack: AsyncExitStack, note: Callable[[str], object]) -> Model:
        """Open it, guided where it is small, with its fallbacks behind it.

        `note` is told of each model that was passed over. Raises `UsageError` for a fallback that
        nobody has.
        """
        options = self.options
        model = self.local or await open_endpoint(stack, self.endpoint, options)
        model = GuidedModel(model, options.effort) if self.guided else model
        if not options.fallback:
            return model
        models = [model]
        for name in options.fallback:  # looked up at once, opened when it is needed
            where = find_endpoint(name, None, self.environ, options)
            opening = partial(open_endpoint, stack, where, options)
            models.append(LazyModel(where, opening) if where else _local_model(name))
        return Router(models, note)

    async def open_judge(self, stack: AsyncExitStack) -> Model | None:
        """Open the model that judges; None where the run's own does."""
        judge = self.options.judge
        if judge is None:
            return None
        if judge.isidentifier() and judge != EXTRACTIVE:
            plugged = make_plugin("judges", judge)
            if plugged is not None:
                return PluggedJudge(judge, plugged)
        return await open_model(stack, judge, self.options, self.environ)


def resolve_model(
    options: Options, brought: Model | None, environ: Mapping[str, str]
) -> ResolvedModel:
    """Find the model of a run, one that the caller brings first.

    Raises `UsageError` for one that nobody has.
    """
    if brought is not None:
        return ResolvedModel(options, environ, brought)
    endpoint = find_endpoint(options.model, options.base_url, environ, options)
    if endpoint is None:
        return ResolvedModel(options, environ, _local_model(options.model, options.effort))
    preload_client(endpoint)
    return ResolvedModel(options, environ, endpoint=endpoint)


async def open_model(
    stack: AsyncExitStack, name: str | None, options: Options, environ: Mapping[str, str]
) -> Model:
    """Open a model by its name, None the default one; raises `UsageError` for one nobody has."""
    endpoint = find_endpoint(name, options.base_url, environ, options)
    return await open_endpoint(stack, endpoint, options) if endpoint else _local_model(name)


async def open_endpoint(
    stack: AsyncExitStack, endpoint: Endpoint | None, options: Options
) -> Model:
    """Open a model behind an endpoint, through a way out of its own.

    The endpoint's address is the user's word, so it may be private; pages get no such right,
    which is why the web's way out is another one.
    """
    assert endpoint is not None, "a model that is not local has an endpoint"
    if endpoint.api == "local":
        serving = serve_model_file(endpoint.model, options.context_window)
        address = await stack.enter_async_context(serving)
        endpoint = replace(endpoint, base_url=address, model="", api="openai")
    private = (host_port(endpoint.base_url),) if endpoint.base_url else ()
    allowed = EgressPolicy(allow_private=private, upstream_proxy=options.proxy)
    egress = await stack.enter_async_context(Egress(allowed))
    # In a thread, since the client's package may still be loading.
    model = await asyncio.to_thread(remote_model, endpoint, egress.proxy_url)
    stack.push_async_callback(model.aclose)
    return model


def _local_model(name: str | None, effort: Effort = STANDARD) -> Model:
    """Make a model that needs no endpoint: a script, a plug-in, or the keyless one at a depth.

    Raises `UsageError` for a script that is not there, or not as it should be.
    """
    if name and name.startswith(SCRIPTED):
        return ScriptedModel.from_file(name.removeprefix(SCRIPTED))
    plugged = plugin_model(name) if name and name != EXTRACTIVE else None
    return plugged or ExtractiveModel(effort)


class RedactingModel(ModelWrapper):
    """Asks a model, and takes the secrets out of what it says.

    What it is asked holds none: they are taken out of messages and results where these begin.
    """

    streams = True

    def __init__(self, model: Model, redactor: Redactor) -> None:
        super().__init__(model)
        self._redactor = redactor

    async def reply(
        self, system: str, messages: Sequence[Message], on_text: OnText | None = None
    ) -> ModelReply:
        """Answer the last message."""
        pieces = StreamRedactor(self._redactor, on_text) if on_text else None
        reply = await ask_model(self._model, system, messages, pieces)
        if pieces:
            pieces.end()
        return replace(reply, text=self._redactor.text(reply.text))

    def start_guided_mode(self) -> None:
        """Search and read by rules from now on, and ask the model only for the answer."""
        if not isinstance(self._model, GuidedModel | ExtractiveModel):
            self._model = GuidedModel(self._model)
