"""Uses live pages without a language model: decides when to open one and what to do there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.keyless.question import MARKS
from browser.net.url import is_web_url
from browser.text.words import STOP_WORDS, content_words, words
from browser.types import REF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent.keyless.conversation import Conversation
    from agent.keyless.ranking import Ranking
    from agent.types import Observation

Call = tuple[str, "dict[str, Any]"]
"""The name of a tool, and the parameters of a call."""
LIVE_TOOLS = frozenset({"OPEN", "CLICK", "TYPE"})
MAX_PAGES, MAX_ACTIONS = 2, 5
"""Maximum number of pages opened in the browser per question, and of actions on them."""
SHORT_PAGE_WORDS = 40
"""A page with fewer words than this probably shows its content only in a browser."""
MIN_PAGE_COVERAGE = 0.3
"""Minimum share (0-1) of the question that a page must cover to be opened, or for its next page to
be read."""

_CONTROL = re.compile(rf"\[({REF})(?: ([^\]]*?))?: ([^\]]*)\]")
"""Matches `[e3 button: Go]`, a link without a role `[e5: Home]`, in a frame `[f1e3 button: Go]`."""
_FIELDS = frozenset({"searchbox", "textbox", "combobox", "spinbutton"})
_UNUSABLE_STATES = (", covered", ", disabled", ", off-screen")
_CONSEQUENTIAL = frozenset(
    """buy order pay delete remove sign log login logout subscribe send post share follow accept
    download upload cancel report donate""".split()
)
"""Words in the labels of controls that may change something, such as the user's account. Such
controls are never clicked."""


@dataclass(frozen=True, slots=True)
class LiveControl:
    """A control on a page; `role` is `link` if the snapshot does not give one."""

    ref: str
    role: str
    label: str

    @property
    def is_button(self) -> bool:
        """Whether it is a button whose label does not suggest an external effect."""
        is_harmless = not _CONSEQUENTIAL & set(words(self.label))
        return is_harmless and self.role not in _FIELDS | {"link", "checkbox", "select"}


def next_live_page_call(conversation: Conversation, ranking: Ranking) -> Call | None:
    """Return the next call on a live page, or None if no page is likely to have the answer."""
    if not ranking.is_insufficient and _has_shown_answer(conversation, ranking):
        return None
    action = None
    if conversation.count_steps("CLICK", "TYPE") < MAX_ACTIONS:
        action = _next_action(conversation, ranking)
    return action or _page_to_open(conversation, ranking)


def controls(observations: Iterable[Observation]) -> list[LiveControl]:
    """List the usable controls on the last opened page, including those added by actions.

    If the page has a `main` landmark, only the controls in it count.
    """
    found: dict[str, LiveControl] = {}
    for observation in observations:
        if observation.tool not in LIVE_TOOLS or observation.failed:
            continue
        if observation.tool == "OPEN" or _navigated(observation):
            found.clear()
        for line in _main_lines(observation.snapshot.split("\n")):
            for ref, role, label in _CONTROL.findall(line):
                if ref in found or not line.startswith("~"):
                    found[ref] = LiveControl(ref, role or "link", label)
    return [c for c in found.values() if not any(mark in c.label for mark in _UNUSABLE_STATES)]


def _main_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines below `main:`, or all lines if there is none; removed lines are skipped."""
    has_main = "main:" in lines
    inside = not has_main
    for line in lines:
        if has_main and line[:1].islower() and line.endswith(":"):
            inside = line == "main:"
        elif inside and not line.startswith("- "):
            yield line


def has_added_text(observation: Observation) -> bool:
    """Return whether an action added text, not only controls; a new page always counts as text."""
    if observation.tool != "OPEN" and _navigated(observation):
        return True
    new = (line[1:] for line in observation.snapshot.split("\n") if line.startswith("+"))
    return any(len(words(_CONTROL.sub(" ", line))) > 1 for line in new)


def _navigated(observation: Observation) -> bool:
    return "navigated" in str(observation.get("events") or "")


def _has_shown_answer(conversation: Conversation, ranking: Ranking) -> bool:
    """Return whether an action added text about the question, which then probably answers it."""
    for observation in conversation.observations:
        if observation.tool in ("CLICK", "TYPE"):
            stems = content_words(" ".join(p.text for p in observation.passages))
            if _navigated(observation) or ranking.coverage(stems) >= MIN_PAGE_COVERAGE:
                return True
    return False


def _page_to_open(conversation: Conversation, ranking: Ranking) -> Call | None:
    """Open the page with controls that covers most of the question.

    If nothing answers the question yet, a page with hardly any text is also eligible. Files are not
    live pages.
    """
    opened = set(conversation.parameter_values("OPEN", "url"))
    hits = [hit for o in conversation.results("WEB_SEARCH") for hit in o.results]
    best = (0.0, "")
    for page in conversation.results("READ"):
        texts = [passage.text for passage in page.passages]
        page_controls = page.get("controls") or []
        is_short = ranking.is_insufficient and sum(len(t.split()) for t in texts) < SHORT_PAGE_WORDS
        is_interactive = bool(page_controls) or page.get("outcome") == "consent"
        is_new = page.url not in opened and is_web_url(page.url)
        if is_new and (is_interactive or is_short):
            snippets = [hit.snippet for hit in hits if hit.url == page.url]
            text = " ".join([*snippets, page.title, *texts, *map(str, page_controls)])
            best = max(best, (ranking.coverage(content_words(text)), page.url))
    coverage, url = best
    return (
        ("OPEN", {"url": url})
        if coverage >= MIN_PAGE_COVERAGE and len(opened) < MAX_PAGES
        else None
    )


def _next_action(conversation: Conversation, ranking: Ranking) -> Call | None:
    """Click the button whose label covers most of the question, otherwise search on the page."""
    used = {ref for tool in ("CLICK", "TYPE") for ref in conversation.parameter_values(tool, "ref")}
    unused = [c for c in controls(conversation.observations) if c.ref not in used]
    buttons = [(ranking.coverage(content_words(c.label)), c) for c in unused if c.is_button]
    coverage, button = max(buttons, key=lambda pair: pair[0], default=(0.0, None))
    if button is not None and coverage > 0:
        return "CLICK", {"ref": button.ref}
    return _search_on_page(unused, conversation, ranking)


def _search_on_page(
    unused: Sequence[LiveControl], conversation: Conversation, ranking: Ranking
) -> Call | None:
    """Search on the page for the question's next untried phrase.

    A phrase is a sequence of words between stop words; phrases without capitals and longer ones are
    tried first.
    """
    runs: list[list[str]] = [[]]
    for token in ranking.question.text.split():
        bare = token.strip(MARKS)
        if bare and bare.casefold() not in STOP_WORDS:
            runs[-1].append(bare)
        else:
            runs.append([])
    phrases = sorted(map(" ".join, runs), key=lambda p: (not p.islower(), -len(p.split())))
    typed = set(conversation.parameter_values("TYPE", "text"))
    topics = frozenset(ranking.question.terms) - ranking.question.role
    untried = [p for p in phrases if p not in typed and topics & set(content_words(p))]
    field = next((c for c in unused if c.role == "searchbox"), None)
    if field is None or not untried:
        return None
    return "TYPE", {"ref": field.ref, "text": untried[0], "submit": True}
