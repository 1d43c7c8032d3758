"""Working a live page: when to open one, what to type and what to click."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.keyless.asking import GENERIC
from agent.keyless.controls import LIVE_TOOLS, Control, controls, navigated
from agent.keyless.forms import choose, decline, fill
from agent.keyless.names import name_stems
from browser.text import STOP_WORDS, content_words, stem, words

if TYPE_CHECKING:
    from typing import Any

    from agent.keyless.doubt import Doubt
    from agent.keyless.notebook import Notebook
    from agent.keyless.observations import Observation
    from agent.keyless.ranking import Ranking

Call = tuple[str, "dict[str, Any]"]

PAGES = 2
"""Pages opened in the browser for one question."""
ACTIONS = 5
"""Actions on live pages for one question."""
TINY = 40
"""Words of a page below which it shows too little of itself to have been read whole."""
RELEVANT = 0.3
"""Share (0-1) of the question that a page must speak of to be opened."""

_INVITES = re.compile(
    r"(?:^|[.!?;:] )(?:type|enter|search|choose|select|click|press|pick|tap|fill|scroll|filter"
    r"|give)\b"
    r"|\b(?:load as you scroll|choose one|click (?:on|one)|press the)\b",
    re.IGNORECASE,
)
_SCROLLS = re.compile(r"\b(?:as you scroll|scroll (?:down )?(?:for|to see) more)\b", re.IGNORECASE)
_MORE = re.compile(r"\b(?:more|older|next|load|expand|details|show)\b", re.IGNORECASE)
# Words of controls that do something to the world, or to the person's account.
_CONSEQUENCES = re.compile(
    r"\b(?:buy|order|pay|delete|remove|sign|log ?(?:in|out)|subscribe|send|post|share|follow|accept"
    r"|download|upload|cancel|report|donate)\b",
    re.IGNORECASE,
)


def live_call(notes: Notebook, ranking: Ranking, doubts: Doubt, *, sure: bool) -> Call | None:
    """The next step on a live page, or None where there is none that promises anything.

    Where every word of the question is met but no sentence holds most of them, only pages with
    controls are worth it, until one of these has shown something.
    """
    if doubts.none and (sure or _shown(notes) or not _worth_working(notes, ranking)):
        return None
    if _actions(notes) < ACTIONS:
        action = _action(notes, ranking, doubts)
        if action:
            return action
    return _opening(notes, ranking)


def is_live(notes: Notebook) -> bool:
    """Whether the last reply worked a live page."""
    return any(o.tool in LIVE_TOOLS for o in notes.latest)


def _shown(notes: Notebook) -> bool:
    """Whether an action brought text, so that the page has said what it had to say."""
    acted = LIVE_TOOLS - {"OPEN", "SNAPSHOT", "SCROLL"}
    return any(o.tool in acted and (o.passages() or navigated(o)) for o in notes.observations)


def _worth_working(notes: Notebook, ranking: Ranking) -> bool:
    pages = [o for o in notes.results("READ") if _workable(o)]
    return any(_promise(o, notes, ranking) >= RELEVANT for o in pages)


def _workable(page: Observation) -> bool:
    """Whether a page has controls, loads as one scrolls, or stands behind a consent dialog."""
    if page.data.get("controls") or page.data.get("outcome") == "consent":
        return True
    return any(_SCROLLS.search(p.text) for p in page.passages())


def _actions(notes: Notebook) -> int:
    return sum(notes.rounds(tool) for tool in LIVE_TOOLS - {"OPEN"})


def _opening(notes: Notebook, ranking: Ranking) -> Call | None:
    opened = set(notes.asked("OPEN", "url"))
    if len(opened) >= PAGES:
        return None
    pages = [o for o in notes.results("READ") if o.url and o.url not in opened]
    inviting = [
        (_promise(o, notes, ranking), o.url) for o in pages if _workable(o) or _invites(o, ranking)
    ]
    best = max(inviting, default=(0.0, ""))
    return ("OPEN", {"url": best[1]}) if best[0] >= RELEVANT else None


def _invites(page: Observation, ranking: Ranking) -> bool:
    """Whether a page asks for a hand, or shows next to nothing under a title that was asked for."""
    texts = [p.text for p in page.passages()]
    if any(_INVITES.search(text) for text in texts):
        return True
    title = name_stems(page.title)
    return sum(len(t.split()) for t in texts) < TINY and title <= set(ranking.question.terms)


def _promise(page: Observation, notes: Notebook, ranking: Ranking) -> float:
    """How relevant a page is by what it shows, its controls, and what a search says of it."""
    hits = [h.snippet for o in notes.results("WEB_SEARCH") for h in o.hits() if h.url == page.url]
    return relevance(page, ranking, *hits, *map(str, page.data.get("controls") or []))


def relevance(page: Observation, ranking: Ranking, *further: str) -> float:
    """Share (0-1) of the question's weight that a page, as it was shown, speaks of."""
    texts = [page.title, *(p.text for p in page.passages()), *further]
    said = set(content_words(" ".join(texts)))
    total = sum(ranking.weight.values()) or 1.0
    return sum(w for t, w in ranking.weight.items() if said & ({t} | ranking.forms(t))) / total


def _action(notes: Notebook, ranking: Ranking, doubts: Doubt) -> Call | None:
    live = [o for o in notes.observations if o.tool in LIVE_TOOLS]
    if not live:
        return None
    used = {ref for tool in ("CLICK", "TYPE", "SELECT") for ref in notes.asked(tool, "ref")}
    every = controls(live)
    present = [c for c in every if c.ref not in used]
    said = " ".join(line for o in live for line in o.lines)
    return (
        decline(present)
        or fill(present, every, ranking.question.text, said)
        or choose(present, ranking.question.text)
        or _click(present, ranking, doubts)
        or _type(present, notes, ranking)
        or _more(present, notes)
    )


def _click(present: list[Control], ranking: Ranking, doubts: Doubt) -> Call | None:
    """Click what names most of the question, words still unmet counting twice."""
    unmet = {s for word in doubts.unmet for s in content_words(word)}
    scored = [(_named(c.label, ranking, unmet), c) for c in present if _is_button(c)]
    best = max(scored, key=lambda pair: pair[0], default=None)
    return ("CLICK", {"ref": best[1].ref}) if best and best[0] > 0 else None


def _named(label: str, ranking: Ranking, unmet: set[str]) -> float:
    said = set(content_words(label))
    return sum(w * (1 + (t in unmet)) for t, w in ranking.weight.items() if t in said - GENERIC)


def _is_button(control: Control) -> bool:
    harmless = not _CONSEQUENCES.search(control.label)
    return harmless and not control.is_field and control.role not in {"link", "checkbox"}


def _type(present: list[Control], notes: Notebook, ranking: Ranking) -> Call | None:
    """Search with the question's longest phrase that was not tried yet."""
    typed = set(notes.asked("TYPE", "text"))
    phrases = [p for p in _phrases(ranking.question.text) if p not in typed]
    field = next((c for c in present if c.role == "searchbox"), None)
    if field is None or not phrases:
        return None
    return "TYPE", {"ref": field.ref, "text": phrases[0], "submit": True}


def _phrases(text: str) -> list[str]:
    """Runs of words that carry meaning, those without capitals and the longer ones first."""
    runs: list[list[str]] = [[]]
    for token in re.findall(r"[\w'’.-]*\w", text):
        telling = [w for w in words(token) if w not in STOP_WORDS and stem(w) not in GENERIC]
        if telling:
            runs[-1].append(token)
        elif runs[-1]:
            runs.append([])
    found = [" ".join(run) for run in runs if run]
    return sorted(found, key=lambda p: (not p.islower(), -len(p.split())))


def _more(present: list[Control], notes: Notebook) -> Call | None:
    """Ask for more of a page: a button that says so, or a screen further down."""
    button = next(
        (c for c in present if _MORE.search(c.label) and not _CONSEQUENCES.search(c.label)), None
    )
    if button:
        return "CLICK", {"ref": button.ref}
    scrolls = any("scroll" in line.casefold() for o in notes.results("OPEN") for line in o.lines)
    return ("SCROLL", {"pages": 3}) if scrolls else None
