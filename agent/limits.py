"""Limits that users can set, and the presets quick, standard and deep.

In `config.toml` they are set in the tables `[limits]` and `[wiki-rules]`; in the environment,
`RESEARCH_LIMITS=recent_turns=20,memories=50`. Where a system that Urchin grew from has a default,
the value is the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Any, ClassVar, Literal

from agent.validation import Before, Bounds, Depth


@dataclass(frozen=True, slots=True)
class DepthLimits:
    """The preset limits for a depth; they apply unless the user sets others.

    steps, sources: limits for the entire run.
    parts_steps: steps of a run whose question is split; each part searches and reads separately and
        gets an equal share, at most `part_steps`.
    plans: whether a question may be split.
    rounds, points: number of checks of a draft for open points, and number of points that are
        researched.
    sections: maximum number of sections of a report.
    challenges: number of claims to search for evidence against.
    engines: number of search engines used for a hard query; their results are merged.
    rephrases: how often the model may be asked for alternative queries if a search found little.
    translates: for questions not in English, whether to ask even if the search found enough.
    first_reads, next_reads: pages that the extractive model reads after the first and after each
        further search.
    queries, searches, list_pages: the extractive model's queries per round, rounds, and list pages.
    """

    steps: int
    sources: int
    parts_steps: int
    part_steps: int
    plans: bool
    rounds: int
    points: int
    sections: int
    challenges: int
    engines: int
    rephrases: int
    translates: bool
    first_reads: int
    next_reads: int
    queries: int
    searches: int
    list_pages: int


# quick: one search, one page, a second look and the answer, for questions that one good page
# answers. standard: the reference engine's twelve steps, and eight per part. A three-hop question
# needs three searches. The first ten pages answer 86 % of simple questions, the first six 82 %.
# deep: at least twice as much of everything, and two checks for open points in a draft. The first
# check finds what was overlooked, the second finds new questions that this raises, and a third one
# seldom finds anything.
_PRESET_LIMITS: dict[str, tuple[Any, Any, Any]] = {
    "steps": (6, 12, 40),
    "sources": (6, 24, 60),
    "parts_steps": (9, 24, 60),
    "part_steps": (3, 8, 12),
    "plans": (False, True, True),
    "rounds": (0, 0, 2),
    "points": (0, 0, 3),
    "sections": (3, 4, 6),
    "challenges": (0, 0, 3),
    "engines": (1, 2, 3),
    "rephrases": (0, 2, 4),
    "translates": (False, False, True),
    "first_reads": (3, 10, 12),
    "next_reads": (2, 4, 8),
    "queries": (1, 3, 5),
    "searches": (1, 3, 5),
    "list_pages": (2, 5, 15),
}
_DEPTHS: tuple[Depth, ...] = ("quick", "standard", "deep")
DEPTH_LIMITS: dict[Depth, DepthLimits] = {
    depth: DepthLimits(**{name: row[n] for name, row in _PRESET_LIMITS.items()})
    for n, depth in enumerate(_DEPTHS)
}
STANDARD_LIMITS = DEPTH_LIMITS["standard"]
CHALLENGES = DEPTH_LIMITS["deep"].challenges
"""Number of claims to challenge if the user requests challenges at another depth."""


WikiPart = Literal["wiki", "raw", "sessions"]
"""The parts of a wiki: pages written by users and runs, imported files, conversations."""


_Count = Annotated[int, Bounds(ge=1)]
_NonNegativeInt = Annotated[int, Bounds(ge=0)]
_Seconds = Annotated[float, Bounds(gt=0)]
_Tokens = Annotated[int, Bounds(ge=200)]


def _split_names(value: Any) -> Any:
    return value.split() if isinstance(value, str) else value


Category = Literal["incident", "milestone", "decision"]


@dataclass(frozen=True)
class LimitSettings:
    """Limits for what is kept, recalled and read. Sizes of memory entries are in UTF-16 units.

    recent_turns, condense_past: number of turns shown verbatim; once there are more than
        `condense_past`, older ones are condensed.
    session_summaries, profile_keys, memories, skills, projects: how many of each are kept.
    summary_every, profile_every, propose_every, evaluate_every: questions between post-run tasks.
    recalled, recalled_units: how many memories from earlier runs a run gets, and their size.
    wiki_…: limits of `memory_search` and `memory_get`.
    call_seconds, read_seconds: timeouts for a tool call and for reading a page.
    read_tokens, snapshot_tokens: size of an observation.
    search_results: number of results per search.
    sealed: categories of results that are sealed automatically.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    recent_turns: _Count = 30
    condense_past: _Count = 40
    condensed_units: _Count = 4_000
    session_summaries: _Count = 20
    summary_units: _Count = 1_500
    profile_keys: _Count = 50
    memories: _Count = 100
    skills: _Count = 50
    projects: _Count = 10
    summary_every: _Count = 3
    profile_every: _Count = 5
    propose_every: _Count = 7
    evaluate_every: _Count = 10
    recalled: _NonNegativeInt = 12
    recalled_units: _NonNegativeInt = 3_000
    wiki_results: _Count = 8
    wiki_snippet: _Count = 700
    wiki_lines: _Count = 120
    wiki_units: _Count = 12_000
    call_seconds: _Seconds = 60
    read_seconds: _Seconds = 30
    read_tokens: _Tokens = 3_000
    snapshot_tokens: _Tokens = 3_000
    search_results: _Count = 10
    sealed: Annotated[tuple[Category, ...], Before(_split_names)] = (
        "incident",
        "milestone",
        "decision",
    )


@dataclass(frozen=True)
class WikiRules:
    """Rules for wikis.

    types: allowed relationship types; any if the list is empty.
    categories: index groups by path pattern. The first match applies; without one, the group is the
        folder.
    required: files that are reported if they are missing.
    source: the part that `memory_search` searches by default.
    day_log: whether each answered run adds a line to `sessions/YYYY-MM-DD.md`.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    types: tuple[str, ...] = tuple(
        "related part_of cites contradicts supports causes precedes similar sequential "
        "causal".split()
    )
    categories: dict[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    source: WikiPart | None = None
    day_log: bool = False

    def category(self, path: str) -> str:
        """Return the index group of a page."""
        fitting = (name for pattern, name in self.categories.items() if fnmatchcase(path, pattern))
        return next(fitting, path.partition("/")[0] if "/" in path else "pages")

    def allows(self, type_: str) -> bool:
        """Return whether a relationship may have this type."""
        return not self.types or type_ in self.types


def parse_table(value: Any) -> Any:
    """Parse a table from a file, or `a=1,b=2` from an environment variable."""
    if isinstance(value, str):
        parts = [part.partition("=") for part in value.split(",") if part.strip()]
        value = {name.strip(): of.strip() for name, _, of in parts}
    if isinstance(value, dict):
        return {str(name).replace("-", "_"): of for name, of in value.items()}
    return value
