"""Builds the parts of a run from its settings: budget, memory, skills, logins."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from agent.config import config_path, dump_options, private_folder
from agent.errors import UsageError
from agent.guard.budget import Budget
from agent.guard.saved_logins import SavedLogins
from agent.journal.runs import Runs
from agent.journal.usage import Spending, budget_days
from agent.models.base import Usage
from agent.models.providers import find_endpoint, with_price, without_folder
from browser.net.local_files import LocalFiles
from browser.net.url import host, registrable_domain
from browser.read.habits import Habits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agent.memory.memory_api import Memory
    from agent.options import Options
    from agent.prompts.skill_files import Owner, Skill
    from agent.tools.context import Record
    from browser.read.habits import Habit


def logged_in_sites(options: Options) -> set[str]:
    """Return the sites for which the browser initially has cookies or storage.

    They come from `storage_state` and saved logins. Raises `UsageError` if any of them cannot be
    read.
    """
    saved = SavedLogins(options.data)
    sites = {registrable_domain(host(saved.find(name).origin)) for name in options.login}
    if options.storage_state is None:
        return sites
    try:
        state = json.loads(options.storage_state.read_text(encoding="utf-8"))
        hosts = [cookie["domain"].lstrip(".") for cookie in state.get("cookies", ())]
        urls = [row["origin"] for row in state.get("origins", ())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "Playwright's storage_state writes such a file."
        raise UsageError(f"cannot read {options.storage_state}: {error}", hint=hint) from error
    return sites | {registrable_domain(name) for name in (*hosts, *map(host, urls))} - {""}


def local_files(options: Options) -> LocalFiles:
    """Return the files and folders that a run may read."""
    folders = []
    if options.corpus:  # the corpus comes first, since its search results have the same addresses
        from browser.search.zotero import zotero_collection  # noqa: PLC0415 - loads an HTTP client

        collection = zotero_collection(options.corpus, os.environ)
        folders.append(collection.folder if collection else options.corpus)
    return LocalFiles((*folders, *options.file))


def make_budget(options: Options, environ: Mapping[str, str]) -> Budget:
    """Create the budget from the user's limits, with the depth's limits as defaults."""
    usd = spendable_usd(options)
    return Budget(
        options.max_steps or options.depth_limits.steps,
        usd,
        options.timeout,
        parts_steps=None if options.max_steps else options.depth_limits.parts_steps,
        max_tokens=options.max_tokens,
        price=_highest_price(options, environ) if usd else None,
    )


EMPTY_BUDGET = 1e-9
"""A budget in dollars that is too small for any call; zero would mean no limit."""


def spendable_usd(options: Options) -> float | None:
    """Return the smallest of a run's own budget and the remaining daily and monthly budgets."""
    limits = list(remaining_budget(options).values())
    if options.budget is not None:
        limits.append(options.budget)
    return max(min(limits), EMPTY_BUDGET) if limits else None


def remaining_budget(options: Options, spending: Spending | None = None) -> dict[str, float]:
    """Return the remaining dollars of the `day` and `month` budgets (UTC), if they are set.

    The budgets apply to all runs in the folder, and to any other spending included in `spending`.
    """
    spending = spending or Spending(Runs(options.data))
    budgets = {"day": options.budget_day, "month": options.budget_month}
    pairs = zip(budgets.items(), budget_days(), strict=True)
    return {name: usd - spending.since(first) for (name, usd), first in pairs if usd is not None}


def _highest_price(
    options: Options, environ: Mapping[str, str]
) -> Callable[[int, int], float] | None:
    """Return a function that estimates the maximum price of a call (tokens in, out), or None."""
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
    """Open the memory named in the settings, creating the data folder if it is missing."""
    private_folder(options.data)
    # Imported here because runs without memory do not need it.
    from agent.memory.embedders import make_embedder  # noqa: PLC0415
    from agent.memory.memory_api import Memory  # noqa: PLC0415

    embedder = make_embedder(options.embeddings, options.base_url, environ, options.proxy)
    return Memory.open(
        options.memory_location, options.namespace, embeddings=embedder, limits=options.limits
    )


_MODEL_SETTINGS = frozenset(("model", "judge", "fallback", "alias"))
"""Settings whose values may contain the path of a model file."""
PROJECT_SKILLS = (".urchin/skills", ".agents/skills", "skills")
"""Skill folders in a project, in order of precedence; other programs also use the last two."""


def load_skills(options: Options, *, config: bool) -> Sequence[Skill]:
    """Find the skills that the settings select by name.

    They come from the user's skill folders and, with `config`, from those in the current folder.
    """
    folders: list[tuple[Path, Owner]] = [(options.data / "skills", "user")]
    if config:
        folders.insert(0, (config_path().parent / "skills", "user"))
        folders += ((Path.cwd() / place, "project") for place in PROJECT_SKILLS)
    if not any(folder.is_dir() for folder, _ in folders):
        return ()
    from agent.prompts.skill_files import find_skills  # noqa: PLC0415 - few runs have any
    from agent.tools.toolset import matches_any  # noqa: PLC0415 - as above

    found = find_skills(folders)
    if options.skill_allow:
        found = [skill for skill in found if matches_any(skill.name, options.skill_allow)]
    return [skill for skill in found if not matches_any(skill.name, options.skill_deny)]


def learned_habits(data: Path, record: Record) -> Habits:
    """Return the sites' fetch history, and propose a skill for each site that keeps failing."""

    def propose(site: str, habit: Habit) -> None:
        from agent.run.proposed_skills import propose_skill  # noqa: PLC0415 - few runs propose one

        path = propose_skill(data, site, habit)
        if path is not None:  # only the file name, as the journal may be shared
            record("skill.proposed", name=path.parent.name, site=site, times=habit.times)

    return Habits(data / "habits.json", propose)


def recorded_settings(options: Options) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings in the journal's format, and the full paths that they contain.

    The journal may be shared, so it contains JSON values without secrets, and only the last
    component of each path. The full paths are kept in the run's folder.
    """
    recorded = dump_options(options)
    shown = {
        name: _to_base_names(recorded[name])
        for name in recorded
        if _has_paths(getattr(options, name))
    }
    shown |= {name: _without_folders(recorded[name]) for name in _MODEL_SETTINGS & recorded.keys()}
    paths = {name: recorded[name] for name in shown if shown[name] != recorded[name]}
    return {**recorded, **shown}, paths


def _has_paths(value: object) -> bool:
    values = value if isinstance(value, tuple) else (value,)
    return any(isinstance(one, Path) for one in values)


def _without_folders(value: Any) -> Any:
    """Remove the folder from a model's name, also after `SHORT=`."""
    if not isinstance(value, str):
        return value and [_without_folders(one) for one in value]
    short, equals, name = value.partition("=")
    return f"{short}={without_folder(name)}" if equals else without_folder(value)


def _to_base_names(value: Any) -> Any:
    return (
        PurePath(value).name if isinstance(value, str) else [_to_base_names(one) for one in value]
    )


def memory_name(options: Options) -> str:
    """Return a name that identifies the memory, so that runs can detect that they share it.

    For a shared database, this is a hash of its URL, which may contain a password.
    """
    url = options.memory_url
    place = hashlib.sha256(url.encode()).hexdigest()[:16] if url else "data folder"
    return f"{options.namespace} in {place}"
