"""What settings come to: the budget of a run (the person's, else its depth's) and its memory."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from agent.config import config_path, private_folder
from agent.errors import UsageError
from agent.guard.budget import Budget
from agent.journal.runs import Runs
from agent.journal.usage import Left, Spending, left
from agent.models.base import Usage
from agent.models.prices import priced
from agent.models.resolve import endpoint_of
from browser.net.url import host, registrable_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agent.config import Options
    from agent.memory.memory_api import Memory
    from agent.prompts.skill_files import Owner, Skill


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


def left_of(options: Options, spending: Spending | None = None) -> Left:
    """Say what is left of the budgets of the day and the month, over all runs of the folder."""
    if options.budget_day is None and options.budget_month is None:
        return Left(None, None)
    return left(spending or Spending(Runs(options.data)), options.budget_day, options.budget_month)


def _highest_price(
    options: Options, environ: Mapping[str, str]
) -> Callable[[int, int], float] | None:
    """Give the price of the dearest model that may be asked; None where none is known."""
    named = [(options.model, options.base_url), (options.judge, options.base_url)]
    named = [named[0], *(pair for pair in named[1:] if pair[0])]
    named += [(name, None) for name in options.fallback]
    found = [endpoint_of(name, url, environ, options) for name, url in named]
    priced_ones = [where for where in found if where is not None and where.prices]
    if not priced_ones:
        return None

    def price(tokens_in: int, tokens_out: int) -> float:
        usage = Usage(tokens_in, output_tokens=tokens_out)
        return max(priced(usage, w.model, w.prices).usd for w in priced_ones)

    return price


def memory_of(options: Options, environ: Mapping[str, str]) -> Memory:
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
