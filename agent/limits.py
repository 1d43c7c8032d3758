"""Bounds that a person may set, each with its default: the reference systems' where they have one.

In `config.toml` they are tables, `[limits]` and `[wiki-rules]`; in the environment
`RESEARCH_LIMITS=recent_turns=20,memories=50`. What quick, standard and deep spend stands here too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Any, ClassVar, Literal

from agent.validation import Before, Bounds, Depth


@dataclass(frozen=True, slots=True)
class Effort:
    """How broad and how long a run may work where its limits are not named.

    steps, sources: of a whole run. `parts_steps` are the steps of one that is taken apart, where
    each loop searches and reads for itself; a part gets its share, `part_steps` at most.
    plans: whether a question may be taken apart at all.
    rounds, points: how often a draft is asked for what it leaves open, and how many of these
    points are then researched.
    sections: of a report, at most.
    engines: asked at once where a query is hard, their results merged.
    rephrases: how often a run may ask the model for other queries where a search found little;
    translates: and where it found enough, but was asked in another language than English.
    first_reads, next_reads, queries, searches, list_pages: how the keyless model reaches out: pages
    read after its first search and after each further one, queries in a round, rounds of search,
    pages of a list that are turned over.
    """

    steps: int
    sources: int
    parts_steps: int
    part_steps: int
    plans: bool
    rounds: int
    points: int
    sections: int
    engines: int
    rephrases: int
    translates: bool
    first_reads: int
    next_reads: int
    queries: int
    searches: int
    list_pages: int


# quick: a search, one reading, a second look and the answer; what one good page can tell.
# standard: the reference engine's twelve steps, eight for a part. A question over three hops needs
# three searches; ten first pages hold the answer of 86 % of plain questions, six of 82 %.
# deep: twice and more of everything, and two looks at what a draft leaves open: the first finds
# what was overlooked, the second what that brought up; a third seldom finds anything.
_NUMBERS: dict[str, tuple[Any, Any, Any]] = {
    "steps": (6, 12, 40),
    "sources": (6, 24, 60),
    "parts_steps": (9, 24, 60),
    "part_steps": (3, 8, 12),
    "plans": (False, True, True),
    "rounds": (0, 0, 2),
    "points": (0, 0, 3),
    "sections": (3, 4, 6),
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
EFFORTS: dict[Depth, Effort] = {
    depth: Effort(**{name: row[n] for name, row in _NUMBERS.items()})
    for n, depth in enumerate(_DEPTHS)
}
STANDARD = EFFORTS["standard"]


WikiPart = Literal["wiki", "raw", "sessions"]
"""The parts of a wiki: what people and runs write, what was taken over, what was said."""


_Count = Annotated[int, Bounds(ge=1)]
_OrNone = Annotated[int, Bounds(ge=0)]
_Seconds = Annotated[float, Bounds(gt=0)]
_Tokens = Annotated[int, Bounds(ge=200)]


def _parted(value: Any) -> Any:
    return value.split() if isinstance(value, str) else value


Category = Literal["incident", "milestone", "decision"]


@dataclass(frozen=True)
class LimitSettings:
    """How much of what is kept, given and read; texts of memory in UTF-16 units.

    Of the layers: `recent_turns` are shown as they were said, those before them are condensed once
    there are more than `condense_past`; of summaries, profile, memories, skills and plans so many
    are kept. The jobs behind an answer are done every so many questions. `recalled` memories of
    what earlier runs left are given, in `recalled_units`. The `wiki_…` are of `memory_search` and
    `memory_get`; the next five of one tool call: its seconds, those of reading a page, the tokens
    of an observation, and how many results a search gives. What runs come to is `sealed` where it
    is of one of these categories.
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
    recalled: _OrNone = 12
    recalled_units: _OrNone = 3_000
    wiki_results: _Count = 8
    wiki_snippet: _Count = 700
    wiki_lines: _Count = 120
    wiki_units: _Count = 12_000
    call_seconds: _Seconds = 60
    read_seconds: _Seconds = 30
    read_tokens: _Tokens = 3_000
    snapshot_tokens: _Tokens = 3_000
    search_results: _Count = 10
    sealed: Annotated[tuple[Category, ...], Before(_parted)] = (
        "incident",
        "milestone",
        "decision",
    )


@dataclass(frozen=True)
class WikiRules:
    """What a wiki is held to.

    `types` are those that a relationship may have (any, where the list is empty); `categories`
    group the pages of the index by the first pattern of their path that fits, else by their
    folder; `required` files are missed where they are not there. `source` is the part that
    `memory_search` looks in unless it is told another. With `day_log` each run that has an answer
    leaves a line of it in `sessions/YYYY-MM-DD.md`; off, as where the reference's tools write.
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
        """Name the group that a page belongs to."""
        fitting = (name for pattern, name in self.categories.items() if fnmatchcase(path, pattern))
        return next(fitting, path.partition("/")[0] if "/" in path else "pages")

    def allows(self, type_: str) -> bool:
        """Tell whether a relationship may be of this type."""
        return not self.types or type_ in self.types


def parse_table(value: Any) -> Any:
    """Take a table as a file writes it, or `a=1,b=2` as an environment variable does."""
    if isinstance(value, str):
        parts = [part.partition("=") for part in value.split(",") if part.strip()]
        value = {name.strip(): of.strip() for name, _, of in parts}
    if isinstance(value, dict):
        return {str(name).replace("-", "_"): of for name, of in value.items()}
    return value
