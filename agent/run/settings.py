"""What a run gets by its settings: its budget, its memory, its skills, its logins."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from agent.config import config_path, private_folder
from agent.errors import UsageError
from agent.guard.budget import Budget
from agent.journal.runs import Runs
from agent.journal.usage import Spending, budget_days
from agent.models.base import Usage
from agent.models.providers import find_endpoint, with_price
from browser.net.url import host, registrable_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agent.memory.memory_api import Memory
    from agent.options import Options
    from agent.prompts.skill_files import Owner, Skill


def logged_in_sites(options: Options) -> set[str]:
    """The sites of which the browser has cookies or storage from the start (`storage_state`).

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


def make_budget(options: Options, environ: Mapping[str, str]) -> Budget:
    """Steps, dollars, tokens and seconds: what the person says, else what the depth does."""
    usd = spendable_usd(options)
    return Budget(
        options.max_steps or options.effort.steps,
        usd,
        options.timeout,
        parts_steps=None if options.max_steps else options.effort.parts_steps,
        max_tokens=options.max_tokens,
        price=_highest_price(options, environ) if usd else None,
    )


EMPTY_BUDGET = 1e-9
"""Dollars that pay for no call: a budget of none would be no budget."""


def spendable_usd(options: Options) -> float | None:
    """What a run may spend: its own budget, or less where day or month have less left."""
    limits = list(remaining_budget(options).values())
    if options.budget is not None:
        limits.append(options.budget)
    return max(min(limits), EMPTY_BUDGET) if limits else None


def remaining_budget(options: Options, spending: Spending | None = None) -> dict[str, float]:
    """Dollars left of the budgets of the `day` and the `month` (UTC), of those that are set.

    They hold over all runs of the folder, unless `spending` counts other ones too.
    """
    spending = spending or Spending(Runs(options.data))
    budgets = {"day": options.budget_day, "month": options.budget_month}
    pairs = zip(budgets.items(), budget_days(), strict=True)
    return {name: usd - spending.since(first) for (name, usd), first in pairs if usd is not None}


def _highest_price(
    options: Options, environ: Mapping[str, str]
) -> Callable[[int, int], float] | None:
    """The price of a call (tokens in, out) by the dearest model that may be asked, if known."""
    named = [(options.model, options.base_url), *((name, None) for name in options.fallback)]
    if options.judge:
        named.append((options.judge, options.base_url))
    endpoints = [find_endpoint(name, url, environ, options) for name, url in named]
    known = [endpoint for endpoint in endpoints if endpoint is not None and endpoint.prices]

    def price(tokens_in: int, tokens_out: int) -> float:
        usage = Usage(tokens_in, output_tokens=tokens_out)
        return max(with_price(usage, endpoint.model, endpoint.prices).usd for endpoint in known)

    return price if known else None


def open_memory(options: Options, environ: Mapping[str, str]) -> Memory:
    """Open the memory of the settings; the data folder is made where there is none."""
    private_folder(options.data)
    # A run without memory does not load it.
    from agent.memory.embedders import make_embedder  # noqa: PLC0415
    from agent.memory.memory_api import Memory  # noqa: PLC0415

    embedder = make_embedder(options.embeddings, options.base_url, environ, options.proxy)
    return Memory.open(
        options.memory_place, options.namespace, embeddings=embedder, limits=options.limits
    )


def load_skills(options: Options, *, config: bool) -> Sequence[Skill]:
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
    """A name for the memory of the settings, by which another run sees if it has the same.

    Of a database that machines share it is a hash: its address may hold a password.
    """
    url = options.memory_url
    place = hashlib.sha256(url.encode()).hexdigest()[:16] if url else "data folder"
    return f"{options.namespace} in {place}"
