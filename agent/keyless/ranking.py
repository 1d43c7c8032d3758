"""The sentences that were read, ranked by how well each answers the question."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from agent.evidence.facts import is_month
from agent.evidence.passages import (
    HEADING_SEPARATOR,
    bare_title,
    introduces_next,
    is_table_rule,
    named_cells,
    split_row,
)
from agent.evidence.tokens import NUMBER_WORDS
from agent.keyless.question import MARKS, PRONOUNS, AnswerKind, name_stems, names
from browser.text.sentences import sentences
from browser.text.words import FOLDED, STOP_WORDS, content_words, stem, synonym_groups, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent.keyless.question import Question
    from agent.types import Observation, Passage

LONGEST = 120
"""Words of a sentence that can be quoted, uncut; 60 lost 7 of 260 single questions."""
NEAR = 0.5
"""What a word of the question counts that stands beside a sentence, or in it in another form."""
IN_CONTEXT, IN_SENTENCE, KIND, FOCUS = 7.5, 3.5, 2.0, 1.25
"""Weights of the four features. `tests/bench/keyless_weights.py` finds them on one closed web and
counts on the other: the optimum is flat (.545 to .552 of 286, .555 to .573 of 110). BM25, nearness,
place on the page and four more changed that by less than its spread, .03."""
HOP_GAIN = 0.08
"""Share of the question that a second sentence must add to be said with the first."""
BESIDE = 1
"""Foreign words between a figure and the word of the question that it goes with."""
MOST_ITEMS, ADJOINING = 6, 4
"""Items said of a list that a sentence leads to; characters between passages that adjoin."""
CLEAR, SAME = 2.5, 0.8
"""Margin that is as good as any larger; share of words from which two sentences say the same."""
WRAPPED = 60
"""Characters from which a line that ends within a sentence was broken for width."""
POOL = 40
"""Best sentences among which pairs are looked for."""
LEAST_COVERED, UNNAMED = 0.35, 0.15
"""Share of the question's weight below which nothing is answered, and what is added to it where the
question names something and no page about that was read. Of sixteen features this one alone told
unanswerable questions better on unseen halves; without it 33 of 60 are refused where 42 are."""

_NONE: frozenset[str] = frozenset()
_AMOUNTS = NUMBER_WORDS | {"half", "third", "quarter", "dozen"}
_REASONS = frozenset("because due reason reasons cause caused since so order therefore".split())
INVITING = frozenset(
    "type enter search choose select click press pick tap fill scroll filter".split()
)
"""English words that open a sentence about what to do with a page's controls."""
_ENDS = tuple(".!?。！？")
_CLOSERS = "\"'”’)]»"
BULLETS = "-*•‣◦ "
_NOTES = re.compile(r"(?:\[\w{1,3}\]\s*)+$")
"""Footnote markers behind a sentence: `It sank.[3][4]`."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A sentence, or a table's row put into words, and what a reader has in mind there.

    `own` are its content stems, `heads` those of the headings or of the columns' names above it,
    `title` those of its page's title, `near` those of its passage, of the heading above it, of its
    table's caption and first row, and of what changed on a live page with it. `whole` says that it
    ends as a sentence does and is no instruction to work the page, or is a row; `then` are the code
    or the items that it leads to, ending with a colon; `under` the heading that a line which is
    none is said with.
    """

    text: str
    passage: Passage
    page: str
    own: frozenset[str] = field(repr=False)
    title: frozenset[str] = field(repr=False)
    near: frozenset[str] = field(repr=False)
    heads: frozenset[str] = field(default=frozenset(), repr=False)
    whole: bool = True
    then: tuple[Passage, ...] = ()
    under: str = ""

    @property
    def said(self) -> frozenset[str]:
        """The stems that it says itself, by what heads it or by its page's title."""
        return self.own | self.heads | self.title


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A candidate with its score.

    `own` is the share (0-1) of the question that it says itself, weighed by how rare each word is,
    `covered` that which it and its surroundings say; `bridge` a sentence of another page that it
    takes for that, if one does.
    """

    candidate: Candidate
    own: float
    covered: float
    score: float
    bridge: Candidate | None = None


class Ranking:
    """The candidates that can be quoted, best first (`scored`); `best` is the first whole one.

    Of the person's own files only those count that are called after a word of the question, where
    there are such. Of 188 questions on five folders the three best passages then hold the answer
    of 145, of 142 without; none is lost.
    """

    def __init__(self, question: Question, candidates: Sequence[Candidate]) -> None:
        self.question = question
        self.candidates = candidates
        spread = Counter(s for c in candidates for s in c.own)
        many = len(candidates)
        idf = {
            t: math.log(1 + (many - spread[t] + 0.5) / (spread[t] + 0.5)) for t in question.terms
        }
        total = sum(idf.values()) or 1.0
        self.weight = {t: value / total for t, value in idf.items()}
        # To stem all synonyms takes a quarter of a second, which nothing read has no use for.
        self.forms = {t: _synonyms(t) if many else frozenset() for t in question.terms}
        self._topics = frozenset(question.terms)
        asked = self._topics.union(*self.forms.values())
        titles = {c.page: c.title for c in candidates if c.page.startswith("file:")}
        called = {p for p, title in titles.items() if self._topics & (title | _file_name(p))}
        alone = [
            self._scored(_with_topic(c, self._topics))
            for c in candidates
            if not called or c.page in called
            if len(c.text.split()) <= LONGEST and (c.then or not c.own <= asked)
        ]
        alone.sort(key=lambda x: -x.score)
        pool = alone[:POOL]
        best = [self._bridged(x, pool) for x in pool]
        self.scored = sorted([*best, *alone[POOL:]], key=lambda x: -x.score)
        self.best = next((x for x in self.scored if x.candidate.whole), None)

    def unmet(self, by: Candidate) -> list[str]:
        """The names and words of the question that a sentence and its page's title do not say."""
        said, question = by.said, self.question
        worded = by.own | by.heads
        left = [t for t in question.terms if t not in said and not self.forms[t] & worded]
        missing = [n for n in question.names if name_stems(n) & set(left)]
        words_left = [question.word_of(t) for t in left if t not in question.name_terms]
        return list(dict.fromkeys([*missing, *words_left]))

    @functools.cached_property
    def thin(self) -> bool:
        """Too little of the question is said for an answer.

        Less suffices where a page about what the question names was read. "Why" takes a reason,
        and "who" what that person is or did: of the answers that do not say it, 4 of 20 were right.
        """
        best, question = self.best, self.question
        wanted = [name_stems(name) for name in question.names]
        titles = {c.title for c in self.candidates if c.title}
        named = not wanted or any(n <= t or t <= n for n in wanted for t in titles)
        if best is None or best.covered < LEAST_COVERED + (0 if named else UNNAMED):
            return True
        if question.kind is AnswerKind.REASON and not has_kind(best.candidate.text, question):
            return True
        said = best.candidate.said | best.candidate.near
        said |= best.bridge.said if best.bridge else frozenset()
        role = question.role
        return bool(role) and not any(t in said or self.forms.get(t, _NONE) & said for t in role)

    def margin(self, x: Scored) -> float:
        """By how much an answer's score is above that of the next in other words, `CLEAR` at most.

        Other words: of another passage, and with fewer than four fifths of its words in common.
        """
        best = x.candidate
        others = (
            y.score
            for y in self.scored
            if y.candidate.whole
            and y.candidate.passage.id != best.passage.id
            and len(y.candidate.own & best.own) < SAME * len(y.candidate.own | best.own)
        )
        return min(CLEAR, x.score - next(others, -math.inf))

    def covers(self, said: Iterable[str]) -> float:
        """Share (0-1) of the question's weight that these stems say."""
        known = set(said)
        return sum(w for t, w in self.weight.items() if t in known or self.forms[t] & known)

    def _scored(self, c: Candidate, bridge: Candidate | None = None) -> Scored:
        own, covered = 0.0, 0.0
        for term, weight in self.weight.items():
            other_form = bool(self.forms[term] & (c.own | c.heads)) or term in c.heads
            if term not in self.question.carried:
                own += weight * (1.0 if term in c.own else NEAR if other_form else 0.0)
            on_the_way = bridge is not None and term in bridge.said
            if term in c.said or on_the_way:
                covered += weight
            elif other_form or term in c.near:
                covered += weight * NEAR
        if self.question.carried and not own:
            covered = 0.0
        kind = has_kind(" ".join([c.text, *(p.text for p in c.then)]), self.question)
        if c.then and self.question.kind is AnswerKind.WAY:
            kind = 1.0
        if kind == 1 and not _beside_its_word(c.text, self.question):
            kind = 0.5
        focus = bool(self.question.focus & c.said)
        score = IN_CONTEXT * covered + IN_SENTENCE * own + KIND * kind + FOCUS * focus
        return Scored(c, own, covered, score, bridge)

    def _bridged(self, x: Scored, pool: Sequence[Scored]) -> Scored:
        """A candidate with a sentence of another page that leads to it, if that helps.

        One leads to the other that names what the other's page is about.
        """
        c = x.candidate
        pairs = [
            self._scored(c, b)
            for b in (y.candidate for y in pool if y.candidate.page != c.page)
            if self._names_page(b, c) or self._names_page(c, b)
        ]
        best = max(pairs, key=lambda pair: pair.score, default=x)
        return best if best.covered >= x.covered + HOP_GAIN else x

    def _names_page(self, a: Candidate, b: Candidate) -> bool:
        """One says of the other's title what the question asks for without naming it.

        "Born in Fredericton" leads to "Diocese of Fredericton" where a diocese is asked for.
        """
        title = b.title - (self._topics - self.question.name_terms)
        return title <= a.own and not title <= self._topics


def _file_name(url: str) -> frozenset[str]:
    """The stems of a file's name, from its address."""
    return frozenset(content_words(unquote(url.rpartition("/")[2]).rpartition(".")[0]))


def _with_topic(c: Candidate, topics: frozenset[str]) -> Candidate:
    """An item or a line that is no sentence is said with the heading above, if that is asked of."""
    heading = c.passage.heading.rpartition(HEADING_SEPARATOR)[2].removeprefix(FOLDED)
    alone = c.passage.kind == "list" or (c.passage.kind == "text" and "\n" not in c.passage.text)
    if c.whole or not alone or not topics & set(content_words(heading)):
        return c
    return replace(c, whole=True, under=heading)


def candidates_of(observations: Iterable[Observation]) -> list[Candidate]:
    """The sentences of all passages shown; the same text of one page counts once.

    The following pages of a list go under the title of its first.
    """
    found: dict[tuple[str, str], Candidate] = {}
    titles = {o.url: o.title for o in observations if o.title}
    onward: dict[str, str] = {}
    for o in observations:
        tables = (passage for passage in o.passages if passage.kind == "table")
        headers = frozenset(row.heading.rpartition(HEADING_SEPARATOR)[2] for row in tables)
        title = onward.get(o.url, o.title or titles.get(o.url, ""))
        if o.get("next"):
            onward.setdefault(str(o.get("next")), title)
        changed = " ".join(line for line in o.snapshot.split("\n") if line.startswith("~"))
        above = ""  # the caption of a table, and its first row
        for at, passage in enumerate(o.passages):
            is_row = passage.kind == "table"
            if not is_row:
                above = "" if _ends(passage.text) else passage.text
            elif at == 0 or o.passages[at - 1].kind != "table":
                above = f"{above} {passage.text}"
            beside = f"{above} {changed}" if is_row else changed
            for one in _cut(passage, title, o.url, headers, beside):
                inviting = one.text.split(" ", 1)[0].casefold() in INVITING
                candidate = replace(one, whole=False) if inviting and o.get("controls") else one
                if introduces_next(one.text) and (then := _led_to(o.passages, at)):
                    candidate = replace(one, whole=True, then=then)
                found.setdefault((o.url, one.text), candidate)
    return list(found.values())


def _led_to(passages: Sequence[Passage], at: int) -> tuple[Passage, ...]:
    """The text right below a passage that ends with a colon, or the items of the list there."""
    below: list[Passage] = []
    for before, passage in itertools.pairwise(passages[at : at + MOST_ITEMS + 1]):
        adjoining = 0 <= passage.start - before.end <= ADJOINING
        if not adjoining or passage.kind not in ("text", "list"):
            break
        if below and "text" in (passage.kind, before.kind):
            break
        below.append(passage)
    return tuple(below)


@functools.lru_cache(maxsize=4096)
def _cut(
    passage: Passage, title: str, page: str, headers: frozenset[str], beside: str
) -> tuple[Candidate, ...]:
    """Cut a passage into candidates; kept, for each step of a run looks at all that was read."""
    if passage.kind == "heading":
        return ()
    above, columns, is_row = passage.heading, named_cells(passage), passage.kind == "table"
    pieces: Iterable[str] = _sentences(passage.text)
    if is_row:
        row = " | ".join(split_row(passage.text))
        pieces = [] if row in headers or is_table_rule(passage.text) else [row]
        above = above.rpartition(HEADING_SEPARATOR)[0] if columns else above
        above = " ".join([above, *(name for name, cell in columns if cell)])
    # What stands under a question answers it.
    asked = above.rpartition(HEADING_SEPARATOR)[2] if above.endswith("?") else ""
    under, heads = frozenset(content_words(asked)), frozenset(content_words(above))
    about = frozenset(content_words(bare_title(title)))
    near = frozenset(content_words(f"{passage.text} {passage.heading} {beside}"))
    found: list[Candidate] = []
    for text in pieces:
        own = frozenset(content_words(text))
        if own and (columns or any(map(str.isalpha, text))):
            whole = is_row or _ends(text)
            found.append(Candidate(text, passage, page, own | under, about, near, heads, whole))
    return tuple(found)


def _sentences(text: str) -> Iterator[str]:
    """Give the sentences of a passage, without bullets and footnote markers.

    Lines are joined that were broken for width; a question that a text asks is said with its
    answer.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        whole = lines[-1] if lines else ""
        broken = len(whole) >= WRAPPED or line.lstrip()[:1].islower()
        if whole and broken and not _ends(whole) and not introduces_next(whole):
            lines[-1] = f"{whole.rstrip()} {line.lstrip()}"
        else:
            lines.append(line)
    for line in lines:
        mark, space, rest = line.strip().partition(" ")
        bare = rest.strip() if space and not mark.strip(BULLETS) else line.strip()
        bare = bare.removeprefix(FOLDED)
        first = None
        for start, end in sentences(bare):
            first = start if first is None else first
            if not bare[start:end].endswith("?") or end == len(bare.rstrip()):
                yield _NOTES.sub("", bare[first:end])
                first = None


def _ends(text: str) -> bool:
    return text.rstrip(_CLOSERS).endswith(_ENDS)


def _synonyms(term: str) -> frozenset[str]:
    return frozenset().union(*(group for group in _same_stems() if term in group)) - {term}


@functools.cache
def _same_stems() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(map(stem, group)) for group in synonym_groups())


def has_kind(text: str, question: Question) -> float:
    """1 where something of the asked kind stands in a text that is not in the question, else 0.

    0.5 where the question does not say what kind it wants. English alone.
    """
    known = set(words(question.text))
    new = [w for w in words(text) if w not in known]
    match question.kind:
        case AnswerKind.DATE:
            clock = any(":" in token.strip(":") and token[0].isdigit() for token in text.split())
            return float(clock or any(map(_is_time, new)))
        case AnswerKind.NUMBER:
            return float(any(map(_is_amount, new)))
        case AnswerKind.PERSON | AnswerKind.PLACE:
            asked, opening = set(question.terms), text[:1].lower()  # which is a capital anyway
            return float(any(not name_stems(n) <= asked for n in names(opening + text[1:])))
        case AnswerKind.REASON:
            return float(bool(_REASONS & set(words(text))))
        case AnswerKind.THING | AnswerKind.WAY:
            return 0.5


def _beside_its_word(text: str, question: Question) -> bool:
    """A date or amount stands beside a word of the question; true of other kinds.

    Beside: with one foreign word between them at most. Names and stop words are not foreign, but a
    pronoun is: a clause begins there ("born in Paris, he moved away in 1925").
    """
    if question.kind not in (AnswerKind.DATE, AnswerKind.NUMBER):
        return True
    terms = set(question.terms) - question.name_terms or set(question.terms)
    asked = set(words(question.text))
    is_value = _is_time if question.kind is AnswerKind.DATE else _is_amount
    from_term = from_value = math.inf
    for token in text.split():
        said = [word for word in words(token) if word not in asked]
        foreign = any(w in PRONOUNS or w not in STOP_WORDS for w in said)
        if terms & set(content_words(token)):
            from_term = 0
        elif any(map(is_value, said)):
            from_value = 0
        elif foreign and token.strip(MARKS).islower():
            from_term, from_value = from_term + 1, from_value + 1
        if from_term + from_value <= BESIDE:
            return True
    return False


def _is_amount(word: str) -> bool:
    is_year = len(word) == 4 and word.isdigit() and word[:2] in ("16", "17", "18", "19", "20")
    return (word[0].isdigit() and not is_year) or word in _AMOUNTS


def _is_time(word: str) -> bool:
    """A year, a month or a century; `1990s` and hours count too."""
    figures = word.removesuffix("s").removesuffix("bc").removesuffix("ad")
    return (figures.isdigit() and len(figures) >= 3) or is_month(word) or word == "century"
