"""What settings come to: typed keywords, the budget of a run, its memory and its skills."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from agent.config import config_path, private_folder
from agent.errors import UsageError
from agent.guard.budget import Budget
from agent.journal.runs import Runs
from agent.journal.usage import BudgetLeft, Spending, budget_left

# Whoever asks for the type hints of `Flags` gets them.
from agent.limits import Depth, LimitSettings, WikiRules  # noqa: TC001
from agent.models.base import Usage
from agent.models.providers import find_endpoint, priced
from browser.net.url import host, registrable_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent.config import Options
    from agent.memory.memory_api import Memory
    from agent.prompts.skill_files import Owner, Skill


_Path: TypeAlias = str | Path
_Names: TypeAlias = str | Sequence[str]


class Flags(TypedDict, total=False):
    """The command line's flags with underscores; `None` is as if one were not there.

    `budget` is in USD, `budget_day` and `budget_month` are those of all runs of a day and a month
    (UTC). `timeout` and `model_timeout` are in seconds, `keep_days` in days, `context_window` and
    `max_tokens` in tokens. `research --help` says what each does.
    """

    alias: _Names | None
    base_url: str | None
    fallback: _Names | None
    judge: str | None
    native_tools: bool | None
    guided: bool | None
    model_sees: bool | None
    vision: bool | None
    model_timeout: float | None
    context_window: int | None
    depth: Depth | None
    report: bool | None
    instruction: str | None
    search: _Names | None
    searxng_url: str | None
    search_url: _Names | None
    tool: _Names | None
    site: str | None
    since: str | None
    lang: str | None
    region: str | None
    corpus: _Path | None
    file: _Path | Sequence[_Path] | None
    attach: bool | None
    cdp: str | None
    headed: bool | None
    storage_state: _Path | None
    solver: str | None
    allow: _Names | None
    deny: _Names | None
    allow_private: _Names | None
    share: _Names | None
    allow_tasks: _Names | None
    tool_sources: _Names | None
    tool_allow: _Names | None
    tool_deny: _Names | None
    mcp_tool_allow: _Names | None
    mcp_tool_deny: _Names | None
    memory_tool_allow: _Names | None
    memory_tool_deny: _Names | None
    mcp_config: _Path | Sequence[_Path] | None
    service: _Names | None
    mcp_servers: dict[str, Any] | None
    smtp_url: str | None
    channels: dict[str, Any] | None
    proxy: str | None
    ignore_robots: bool | None
    max_steps: int | None
    budget: float | None
    budget_day: float | None
    budget_month: float | None
    max_tokens: int | None
    timeout: float | None
    schema: _Path | dict[str, Any] | None
    max_sources: int | None
    continue_run: str | None
    session: str | None
    memory_url: str | None
    data_dir: _Path | None
    keep_days: int | None
    namespace: str | None
    embeddings: str | None
    wiki: _Path | None
    wiki_rules: WikiRules | dict[str, Any] | None
    limits: LimitSettings | dict[str, Any] | None
    fresh: bool | None
    require_verified: bool | None
    dry_run: bool | None


def logged_in_sites(options: Options) -> set[str]:
    """Name the sites that the browser begins with a login for, by cookies and storage it is given.

    Raises `UsageError` where the state cannot be read.
    """
    if options.storage_state is None:
        return set()
    try:
        state = json.loads(options.storage_state.read_text(encoding="utf-8"))
        hosts = [cookie["domain"].lstrip(".") for cookie in state.get("cookies", ())]
        urls = [row["origin"] for row in state.get("origins", ())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "Playwright's storage_state writes such a file."
        raise UsageError(f"cannot read {options.storage_state}: {error}", hint=hint) from error
    return {registrable_domain(name) for name in (*hosts, *map(host, urls))} - {""}


def budget_of(options: Options, environ: Mapping[str, str]) -> Budget:
    """Steps, dollars, tokens and seconds: what the person says, else what the depth does."""
    effort = options.effort
    most = options.max_steps or effort.steps
    of_parts = None if options.max_steps else effort.parts_steps
    dollars = dollars_of(options)
    return Budget(
        most,
        dollars,
        options.timeout,
        parts_steps=of_parts,
        tokens=options.max_tokens,
        price=_highest_price(options, environ) if dollars else None,
    )


NOTHING = 1e-9
"""Dollars that pay for no call: a budget of none would be no budget."""


def dollars_of(options: Options) -> float | None:
    """Give what a run may spend: its own budget, or less where day or month have less left."""
    left = left_of(options).least
    given = [usd for usd in (options.budget, left) if usd is not None]
    return max(min(given), NOTHING) if given else None


def left_of(options: Options, spending: Spending | None = None) -> BudgetLeft:
    """Say what is left of the budgets of the day and the month, over all runs of the folder."""
    if options.budget_day is None and options.budget_month is None:
        return BudgetLeft(None, None)
    return budget_left(
        spending or Spending(Runs(options.data)), options.budget_day, options.budget_month
    )


def _highest_price(
    options: Options, environ: Mapping[str, str]
) -> Callable[[int, int], float] | None:
    """Give the price of the dearest model that may be asked; None where none is known."""
    named = [(options.model, options.base_url), (options.judge, options.base_url)]
    named = [named[0], *(pair for pair in named[1:] if pair[0])]
    named += [(name, None) for name in options.fallback]
    found = [find_endpoint(name, url, environ, options) for name, url in named]
    priced_ones = [where for where in found if where is not None and where.prices]
    if not priced_ones:
        return None

    def price(tokens_in: int, tokens_out: int) -> float:
        usage = Usage(tokens_in, output_tokens=tokens_out)
        return max(priced(usage, w.model, w.prices).usd for w in priced_ones)

    return price


def open_memory(options: Options, environ: Mapping[str, str]) -> Memory:
    """Open the memory of the settings; the data folder is made where there is none."""
    private_folder(options.data)
    # A run without memory does not load it.
    from agent.memory.embedders import embedder_of  # noqa: PLC0415
    from agent.memory.memory_api import Memory  # noqa: PLC0415

    embedder = embedder_of(options.embeddings, options.base_url, environ, options.proxy)
    return Memory.open(
        options.memory_place, options.namespace, embeddings=embedder, limits=options.limits
    )


def skills_of(options: Options, *, config: bool) -> Sequence[Skill]:
    """Find the skills of the person's folders; with `config` also those of the folder one is in."""
    folders: list[tuple[Path, Owner]] = [(options.data / "skills", "person")]
    if config:
        folders.insert(0, (config_path().parent / "skills", "person"))
        folders.append((Path.cwd() / ".urchin" / "skills", "project"))
    if not any(folder.is_dir() for folder, _ in folders):
        return ()
    from agent.prompts.skill_files import find_skills  # noqa: PLC0415 - few runs have any

    return find_skills(folders)


def memory_name(options: Options) -> str:
    """Name the memory of the settings, so that another run can tell whether it has the same.

    Of a database that machines share it is a hash: its address may hold a password.
    """
    url = options.memory_url
    place = hashlib.sha256(url.encode()).hexdigest()[:16] if url else "data folder"
    return f"{options.namespace} in {place}"
