"""Working a live page: its controls, when to open one, what to type and what to click."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.keyless.question import MARKS
from agent.keyless.ranking import INVITING
from browser.text.words import STOP_WORDS, content_words, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent.keyless.conversation import Conversation
    from agent.keyless.ranking import Ranking
    from agent.types import Observation

Call = tuple[str, "dict[str, Any]"]
"""A tool's name and the parameters of a call."""
LIVE_TOOLS = frozenset({"OPEN", "CLICK", "TYPE", "SELECT", "PRESS", "SCROLL", "SNAPSHOT"})
PAGES, ACTIONS = 2, 5
"""Pages opened in the browser for one question, and actions on them."""
TINY = 40
"""Words of a page below which it shows too little of itself to have been read whole."""
RELEVANT = 0.3
"""Share (0-1) of the question that a page must speak of to be opened, or turned over."""

_CONTROL = re.compile(r"\[((?:f\d+)?e\d+)(?: ([^\]]*?))?: ([^\]]*)\]")
"""`[e3 button: Go]`, a link without a role `[e5: Home]`, in a frame `[f1e3 button: Go]`."""
_LANDMARK = re.compile(r"[a-z]+(?: .*)?:")
_FIELDS = frozenset({"searchbox", "textbox", "combobox", "spinbutton"})
_OUT_OF_REACH = (", covered", ", disabled", ", off-screen")
_MORE = frozenset("more older next load expand details show".split())
_DECLINING = frozenset(
    "reject decline refuse deny ablehnen refuser rechazar rifiuta weigeren".split()
)
_CONSEQUENCES = frozenset(
    """buy order pay delete remove sign log login logout subscribe send post share follow accept
    download upload cancel report donate""".split()
)
"""Words of controls that do something to the world, or to the person's account."""


@dataclass(frozen=True, slots=True)
class LiveControl:
    """A control of a page: `role` is `link` where the snapshot names none."""

    ref: str
    role: str
    label: str

    @property
    def is_button(self) -> bool:
        """It can be clicked, and does nothing to the world that its name tells."""
        harmless = not _CONSEQUENCES & set(words(self.label))
        return harmless and self.role not in _FIELDS | {"link", "checkbox", "select"}


def live_call(conversation: Conversation, ranking: Ranking) -> Call | None:
    """The next step on a live page, or None where there is none that promises anything."""
    done = not ranking.thin and _shown(conversation, ranking)
    if conversation.rounds(*(LIVE_TOOLS - {"OPEN"})) < ACTIONS:
        action = _action(conversation, ranking, only_named=done)
        if action:
            return action
    return None if done else _opening(conversation, ranking)


def controls(observations: Iterable[Observation]) -> list[LiveControl]:
    """The controls of the page opened last, its main part if it has one, with those that came."""
    found: dict[str, LiveControl] = {}
    for observation in observations:
        if observation.tool not in LIVE_TOOLS or observation.failed:
            continue
        if observation.tool == "OPEN" or _navigated(observation):
            found.clear()
        for line in _main(observation.snapshot.split("\n")):
            for ref, role, label in _CONTROL.findall(line):
                if ref in found or not line.startswith("~"):
                    found[ref] = LiveControl(ref, role or "link", label)
    return [c for c in found.values() if not any(mark in c.label for mark in _OUT_OF_REACH)]


def _main(lines: Sequence[str]) -> Iterator[str]:
    """The lines under `main:` where there is such a landmark, else all; of a diff what is new."""
    bounded = "main:" in lines
    inside = not bounded
    for line in lines:
        if bounded and _LANDMARK.fullmatch(line):
            inside = line == "main:"
        elif inside and not line.startswith("- "):
            yield line


def brought_text(observation: Observation) -> bool:
    """An action brought text, and not controls alone; another page always does."""
    if observation.tool != "OPEN" and _navigated(observation):
        return True
    new = (line[1:] for line in observation.snapshot.split("\n") if line.startswith("+"))
    return any(len(words(_CONTROL.sub(" ", line))) > 1 for line in new)


def _navigated(observation: Observation) -> bool:
    return "navigated" in str(observation.get("events") or "")


def _shown(conversation: Conversation, ranking: Ranking) -> bool:
    """An action brought text on the question, so that the page has said what it had to say."""
    acted = LIVE_TOOLS - {"OPEN", "SNAPSHOT", "SCROLL"}
    brought = [o for o in conversation.observations if o.tool in acted]
    said = [content_words(" ".join(p.text for p in o.passages)) for o in brought]
    return any(map(_navigated, brought)) or any(ranking.covers(s) >= RELEVANT for s in said)


def _opening(conversation: Conversation, ranking: Ranking) -> Call | None:
    """Open the page that speaks most of the question and has something to work.

    Where nothing was found, a page that shows next to nothing or asks for a hand will do.
    """
    opened = set(conversation.asked("OPEN", "url"))
    hits = [hit for o in conversation.results("WEB_SEARCH") for hit in o.results]
    best = (0.0, "")
    for page in conversation.results("READ"):
        texts = [passage.text for passage in page.passages]
        offered = page.get("controls") or []
        works = bool(offered) or page.get("outcome") == "consent" or any(map(_invites, texts))
        tiny = ranking.thin and sum(len(text.split()) for text in texts) < TINY
        if page.url and page.url not in opened and (works or tiny):
            told = [hit.snippet for hit in hits if hit.url == page.url]
            shown = " ".join([*told, page.title, *texts, *map(str, offered)])
            best = max(best, (ranking.covers(content_words(shown)), page.url))
    promise, url = best
    return ("OPEN", {"url": url}) if promise >= RELEVANT and len(opened) < PAGES else None


def _invites(text: str) -> bool:
    """A sentence begins with what a person is to do: "Type what you look for"."""
    pieces = (piece.strip() for piece in re.split(r"[.:;] ", text))
    asked = any(piece.split(" ", 1)[0].casefold() in INVITING for piece in pieces)
    return asked or "as you scroll" in text.casefold()


def _action(conversation: Conversation, ranking: Ranking, *, only_named: bool) -> Call | None:
    """The next action; `only_named` allows none but a button that names much of the question."""
    live = [o for o in conversation.observations if o.tool in LIVE_TOOLS]
    if not live:
        return None
    used = {ref for tool in ("CLICK", "TYPE", "SELECT") for ref in conversation.asked(tool, "ref")}
    every = controls(live)
    present = [c for c in every if c.ref not in used]
    if only_named:
        named = [c for c in present if ranking.covers(content_words(c.label)) >= RELEVANT]
        return _click(named, ranking)
    return (
        _decline(present)
        or _fill(present, every, ranking.question.text)
        or _choose(present, ranking.question.text)
        or _click(present, ranking)
        or _type(present, conversation, ranking)
        or _more(present, conversation)
    )


def _decline(present: Sequence[LiveControl]) -> Call | None:
    """Turn cookies down, where a button says so."""
    for control in present:
        said = set(words(control.label))
        only = "only" in said and said & {"necessary", "essential", "required"}
        if control.role == "button" and (said & _DECLINING or only):
            return "CLICK", {"ref": control.ref}
    return None


def _fill(
    present: Sequence[LiveControl], every: Sequence[LiveControl], question: str
) -> Call | None:
    """Fill the next field that the question has a figure for ("12 metres"); the last one submits.

    A form that requires what the question does not tell is left alone.
    """
    tokens = words(question)
    figures = [(a, content_words(b)) for a, b in itertools.pairwise(tokens) if a.isdigit()]
    triples = zip(tokens, tokens[1:], tokens[2:], strict=False)
    figures += [(c, content_words(a)) for a, of, c in triples if of == "of" and c.isdigit()]
    values: dict[str, str] = {}
    wanting = False
    for control in every:
        if control.role in ("textbox", "spinbutton"):
            named = set(content_words(control.label.split(" = ")[0].split(", ")[0]))
            value = next((figure for figure, unit in figures if named & set(unit)), None)
            wanting |= value is None and "required" in control.label
            values |= {control.ref: value} if value is not None else {}
    left = [control.ref for control in present if control.ref in values]
    if wanting or not left:
        return None
    return "TYPE", {"ref": left[0], "text": values[left[0]], "submit": len(left) == 1}


def _choose(present: Sequence[LiveControl], question: str) -> Call | None:
    """Select an option that the question names and that is not selected yet."""
    asked = set(content_words(question))
    for control in (c for c in present if c.role == "select"):
        label, _, options = control.label.partition("options: ")
        current = label.partition(" = ")[2].partition(", ")[0]
        for option in options.split("; "):
            named = set(content_words(option))
            if named and named <= asked and option != current:
                return "SELECT", {"ref": control.ref, "value": option}
    return None


def _click(present: Sequence[LiveControl], ranking: Ranking) -> Call | None:
    """Click the button that names most of the question, what no sentence says counting twice."""
    best = ranking.scored[0].candidate if ranking.scored else None
    unmet = set(content_words(" ".join(ranking.unmet(best)))) if best else set()

    def named(control: LiveControl) -> float:
        said = set(content_words(control.label))
        return sum(w * (1 + (t in unmet)) for t, w in ranking.weight.items() if t in said)

    button = max((c for c in present if c.is_button), key=named, default=None)
    return ("CLICK", {"ref": button.ref}) if button and named(button) > 0 else None


def _type(
    present: Sequence[LiveControl], conversation: Conversation, ranking: Ranking
) -> Call | None:
    """Search on the page with the question's phrase that was not tried yet.

    Phrases are runs of words that carry meaning, those without capitals and the longer ones first.
    """
    runs: list[list[str]] = [[]]
    for token in ranking.question.text.split():
        bare = token.strip(MARKS)
        if bare and bare.casefold() not in STOP_WORDS:
            runs[-1].append(bare)
        else:
            runs.append([])
    phrases = sorted(map(" ".join, runs), key=lambda p: (not p.islower(), -len(p.split())))
    typed = set(conversation.asked("TYPE", "text"))
    things = frozenset(ranking.question.terms) - ranking.question.role
    left = [p for p in phrases if p not in typed and things & set(content_words(p))]
    field = next((c for c in present if c.role == "searchbox"), None)
    if field is None or not left:
        return None
    return "TYPE", {"ref": field.ref, "text": left[0], "submit": True}


def _more(present: Sequence[LiveControl], conversation: Conversation) -> Call | None:
    """Ask for more of a page: a button that says so, or a screen further down."""
    button = next((c for c in present if c.is_button and _MORE & set(words(c.label))), None)
    if button:
        return "CLICK", {"ref": button.ref}
    scrolls = any("scroll" in o.snapshot.casefold() for o in conversation.results("OPEN"))
    return ("SCROLL", {"pages": 3}) if scrolls else None
