"""The product, set up for a case: its storage, its tools, its script."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agent.errors import ResearchError
from agent.evidence import Evidence
from agent.guard.budget import Budget
from agent.loop.context_builder import ContextBuilder
from agent.loop.orchestrator import Orchestrator
from agent.loop.plan import NO_RESPONSE
from agent.memory import Turn
from agent.memory.storage import export_storage, load_storage
from agent.run.conversation_jobs import ConversationJobs, FinishedTurn
from agent.tools.context import ToolContext
from agent.tools.policy import Policy
from agent.tools.registry import Registry, tools_from_functions
from agent.tools.toolset import available_tools
from agent.types import Message
from browser.types import PageContext
from tests.conformance.embeddings import Embeddings
from tests.conformance.speaker import Speaker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from agent.memory import Layers, Memory

SESSION = "case"
EMBEDDING_MODEL = "text-embedding-3-small"
EMBEDDING_URL = "https://api.openai.com/v1/embeddings"
STEPS, SUBTASK_STEPS = 12, 8
CHAT_TURNS = 200
REFERENCE_TOOLS = (
    *("WEB_SEARCH", "FETCH_URL", "REMEMBER", "RECALL", "SEARCH_MEMORY"),
    *("SET_GOAL", "UPDATE_GOAL", "GET_GOALS"),
)
"""Tools that the reference engine has; others are unknown in a case."""


class PerLoopBudget(Budget):
    """Every loop has its own steps, as in the reference engine; in the product they share them."""

    @property
    def steps_left(self) -> int:
        return self.max_steps - self.steps

    def steps_per_part(self, parts: int) -> int:
        return SUBTASK_STEPS


async def _yes(_effect: str) -> bool:
    """The reference engine asks nobody."""
    return True


@dataclass(slots=True)
class ReferenceToolContext(ToolContext):
    """The tools' context, with similarity measured as in the reference engine."""

    embeddings: Embeddings | None = None

    async def similarities(self, question: str, texts: Sequence[str]) -> dict[str, float]:
        if self.embeddings is None:
            return await ToolContext.similarities(self, question, texts)
        return await self.embeddings.near(question, texts)


class CaseBuilder(ContextBuilder):
    """Stores a case's turns but no findings of runs: the reference engine has no such layer."""

    told: tuple[Turn, ...] = ()

    async def _load_layers(self, question: str) -> Layers:
        layers = await super()._load_layers(question)
        return replace(layers, history=self.told, recalled=())


class Engine:
    """One storage, one clock and one conversation for all turns in a case."""

    def __init__(self, case: dict[str, Any], memory: Memory) -> None:
        self._memory = memory
        self._speaker = Speaker()
        stored = case.get("storage", {}).get("urchinChatHistory", [])
        self._history = [Turn(row["role"], row["text"]) for row in case.get("history", stored)]
        self._vectors = case.get("embeddings", {})
        self._heard = case.get("heard", [])
        self.fetches: list[dict[str, Any]] = []
        self._tool_calls: list[dict[str, str]] = []
        self._context = self._new_context(case)
        load_storage(memory, case.get("storage", {}), SESSION)

    def storage(self) -> dict[str, Any]:
        """Return the storage in the reference engine's form."""
        return export_storage(self._memory, SESSION)

    async def turn(self, case: dict[str, Any]) -> dict[str, Any]:
        """Run one turn to its answer, and the post-run tasks."""
        most = case.get("maxSteps", STEPS)
        self._speaker.begin(case["script"], most)
        self._tool_calls = []
        opening = self._opening(case)
        work = self._work(case, opening, most)
        try:
            answer, error = (await work.answer(case["input"])).text, None
        except ResearchError as failed:
            answer, error = None, str(failed)
        self._keep(case["input"], answer)
        calls = len(self._speaker.asked)
        before = self.storage()
        if answer:
            await self._after(opening, work)
        return {
            "ok": error is None,
            "answer": None if error is not None else answer or NO_RESPONSE,
            "llm_calls": self._speaker.asked,
            "tool_calls": self._tool_calls,
            "thinks": self._speaker.thinks,
            "steps": self._speaker.steps,
            **({"error": error} if error is not None else {}),
            "main_calls": calls,
            "storage_before_jobs": before,
            "storage_after": self.storage(),
            "script_left": len(self._speaker.script),
        }

    def _opening(self, case: dict[str, Any]) -> ContextBuilder:
        page = case.get("pageContext") or {}
        builder = CaseBuilder(
            self._context,
            SESSION,
            page=PageContext(
                page["url"],
                page.get("title", ""),
                page.get("selection", ""),
                page.get("visibleText", ""),
            )
            if page.get("url")
            else None,
            captured=[(row["type"], row["value"]) for row in case.get("context") or []],
        )
        builder.told = tuple(self._history)
        return builder

    def _work(self, case: dict[str, Any], opening: ContextBuilder, most: int) -> Orchestrator:
        own = {name: self._tool(name, what) for name, what in case.get("tools", {}).items()}
        builtin = [
            tool
            for tool, why in available_tools(self._context)
            if not why and tool.name in REFERENCE_TOOLS
        ]
        # In the reference engine, tools are not sources, so their results cannot be cited.
        tools = [replace(tool, is_source=False) for tool in tools_from_functions(own)]
        policy = Policy(Registry([*builtin, *tools]), self._context)
        budget, note = PerLoopBudget(most), self._speaker.note
        system = case.get("systemPrompt", "")
        return Orchestrator(
            self._speaker, policy, budget, system, note, opening, guarded=False, concurrent=1
        )

    def _tool(self, name: str, what: Any) -> Callable[[str], Awaitable[Any]]:
        async def run(param):  # without a type it gets the raw text, as the reference does
            self._tool_calls.append({"name": name, "param": param})
            if not isinstance(what, dict):
                return what
            if "__throw" in what:
                raise ValueError(what["__throw"])
            if what.get("__echo"):
                return {"success": True, "param": param}
            return None if what.get("__undefined") else what

        return run

    def _keep(self, question: str, answer: str | None) -> None:
        """Store the turn; after a failure, only the question."""
        pair = [Turn("user", question)]
        if answer is not None:
            pair.append(Turn("assistant", answer))
        for turn in pair:
            self._memory.conversation(SESSION).append(Turn(turn.role, turn.text))
        self._history += pair

    async def _after(self, opening: ContextBuilder, work: Orchestrator) -> None:
        jobs = ConversationJobs(
            self._memory,
            SESSION,
            self._speaker.now_ms,
            self._speaker.note,
            self._ask,
        )
        done = FinishedTurn(tuple(self._history), len(work.messages), opening.skills)
        await jobs.run(done)

    async def _ask(self, name: str, system: str, request: str) -> str:
        self._heard.append(request)
        self._speaker.note("model.request", f"after/{name}")
        return (await self._speaker.reply(system, [Message("user", request)])).text

    def _new_context(self, case: dict[str, Any]) -> ToolContext:
        keyed = case.get("settings", {}).get("llmApiKey")
        return ReferenceToolContext(
            question=case.get("input", ""),
            evidence=Evidence(),
            record=self._speaker.note,
            store_bytes=lambda _: "",
            memory=self._memory,
            approve=_yes,
            now_ms=self._speaker.now_ms,
            embeddings=Embeddings(self._fetch, EMBEDDING_MODEL) if keyed else None,
        )

    async def _fetch(self, text: str) -> list[float] | None:
        body = {"model": EMBEDDING_MODEL, "input": text}
        self.fetches.append({"url": EMBEDDING_URL, "body": body})
        return self._vectors.get(text)
