"""The keyword arguments of `research`, typed: what an editor completes and a type checker knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

# Whoever asks for the type hints gets them.
from agent.depth import Depth  # noqa: TC001
from agent.limits import LimitSettings, WikiRules  # noqa: TC001

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
