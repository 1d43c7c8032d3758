"""Ranks the sentences in passages by how well they answer the question."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent.evidence.facts import extract_facts, is_month
from agent.evidence.passages import (
    HEADING_SEPARATOR,
    bare_title,
    introduces_next,
    is_table_rule,
    named_cells,
    split_row,
)
from agent.evidence.tokens import NUMBER_WORDS
from agent.evidence.units import is_rounded
from agent.keyless.question import MARKS, PRONOUNS, AnswerKind, find_names, name_stems
from agent.types import Fit
from browser.text.languages import stems_in
from browser.text.sentences import sentences
from browser.text.words import (
    BM25,
    FOLDED,
    SENTENCE_ENDS,
    STOP_WORDS,
    content_words,
    stem,
    synonym_groups,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agent.keyless.question import Question
    from agent.types import Observation, Passage

MAX_WORDS = 120
"""Maximum words in a sentence that can be quoted; with 60, 7 of 260 single questions were lost."""
NEARBY_WEIGHT = 0.5
"""Weight of a question word that is near a sentence, or that the sentence has in another form."""
CONTEXT_WEIGHT, SENTENCE_WEIGHT, KIND_WEIGHT, FOCUS_WEIGHT = 7.5, 3.5, 2.0, 1.25
"""Weights of the four features. `bench/keyless_weights.py` fits them on one closed web and tests
them on the other: the optimum is flat (.545 to .552 of 286, .555 to .573 of 110). BM25, proximity,
position on the page and four more features changed the result by less than its spread, .03."""
MIN_BRIDGE_GAIN = 0.08
"""Minimum share of the question that a bridge sentence must add to be quoted with the first one."""
MAX_WORDS_BETWEEN = 1
"""Maximum number of other words between a figure and the word that it belongs to."""
MAX_ITEMS, MAX_ADJOINING_GAP = 6, 4
"""Maximum number of quoted list items, and of characters between adjoining passages."""
MAX_MARGIN, MIN_SAME_SHARE = 2.5, 0.8
"""Maximum margin; minimum share of common words for two sentences to count as the same."""
MAX_SIMILAR_RATIO = 1.25
"""Maximum ratio of two measurements that may be of the same thing. On both closed webs, it costs
none of the 74 answers (73 right)."""
MIN_WRAPPED_LINE_CHARS = 60
"""A line of at least this many characters that ends mid-sentence counts as wrapped."""
MAX_BRIDGE_CANDIDATES = 40
"""Number of top-ranked sentences that are tried as bridges."""
MIN_COVERED, UNNAMED_PENALTY = 0.35, 0.15
"""Minimum share of the question's weight that an answer must cover, and the amount added to it if
the question names something and no page about it was read. Of sixteen features, only this one
improved the recognition of unanswerable questions on unseen halves; without it, 33 of 60 are
refused instead of 42."""
MIN_SENTENCES = 100
"""Minimum number of sentences assumed for rarity: with two, every word would be in half of them."""
MIN_RELEVANT_SHARE = MIN_COVERED / 2
"""Minimum share of the question's weight that a relevant passage must cover."""
PASSAGE_WEIGHT, RESULT_RANK_WEIGHT = 2.0, 1.0
"""Weights of a passage's words and of its page's rank in the results, each relative to the best,
for selecting passages to show. On 40 unseen questions over 25 documents, the first three passages
contain 27 answers (25 without these weights); on closed webs, they contain 304 of 396 (305
without)."""

_NO_STEMS: frozenset[str] = frozenset()
_AMOUNTS = NUMBER_WORDS | {"half", "third", "quarter", "dozen"}
_REASONS = frozenset("because due reason reasons cause caused since so order therefore".split())
_SENTENCE_ENDS = tuple(SENTENCE_ENDS.replace("…", ""))
_CLOSERS = "\"'”’)]»"
BULLETS = "-*•‣◦ "
_NOTES = re.compile(r"(?:\[\w{1,3}\]\s*)+$")
"""Matches footnote markers after a sentence: `It sank.[3][4]`."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A sentence or table row that may be quoted, with the stems used to match it.

    Four fields contain stems. `stems` covers its own content words and a question above it; `title`
    covers its page's title; `heading_stems` covers the headings or column names above it; `context`
    covers its passage, the heading above it, its table's caption and first row, and the other
    changes that the same action caused on a live page. `page` is the URL of its page.
    `is_quotable` says whether it ends like a sentence, or is a table row. `following` contains the
    list items or lines of code that it introduces. `shown_heading` is the heading to quote with it
    if it is not a sentence by itself.
    """

    text: str
    passage: Passage
    page: str
    stems: frozenset[str] = field(repr=False)
    title: frozenset[str] = field(repr=False)
    context: frozenset[str] = field(repr=False)
    heading_stems: frozenset[str] = field(default=frozenset(), repr=False)
    is_quotable: bool = True
    following: tuple[Passage, ...] = ()
    shown_heading: str = ""

    @property
    def full_text(self) -> str:
        """The candidate's text, followed by the text that it introduces."""
        return " ".join([self.text, *(passage.text for passage in self.following)])

    @property
    def stated_stems(self) -> frozenset[str]:
        """The stems of the candidate, its headings and its page's title."""
        return self.stems | self.heading_stems | self.title


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A candidate with its score.

    `covered` is the share (0-1) of the question's words that it and its context contain, weighted
    by rarity. `bridge` is the sentence from another page that it depends on, if any.
    """

    candidate: Candidate
    covered: float
    score: float
    bridge: Candidate | None = None


class Ranking:
    """The candidates for an answer, best first (`scored`); `best` is the first quotable one.

    `found` contains the pages that searches returned, with their scores.
    """

    def __init__(
        self,
        question: Question,
        candidates: Sequence[Candidate],
        found: Mapping[str, float] | None = None,
    ) -> None:
        self.question = question
        self._found = found or {}
        self.candidates = candidates
        frequency = Counter(stem for c in candidates for stem in c.stems)
        total = max(len(candidates), MIN_SENTENCES)
        self._idf = {
            term: math.log(1 + (total - frequency[term] + 0.5) / (frequency[term] + 0.5))
            for term in question.terms
        }
        total_idf = sum(self._idf.values()) or 1.0
        self.weight = {term: value / total_idf for term, value in self._idf.items()}
        # Synonyms are not loaded and stemmed until something has been read.
        self.forms = {t: _synonyms(t) if candidates else frozenset() for t in question.terms}
        self._topics = frozenset(question.terms)
        question_forms = self._topics.union(*self.forms.values())
        scored = [
            self._score(_with_heading(c, self._topics))
            for c in candidates
            # A sentence that only repeats the question is not an answer.
            if len(c.text.split()) <= MAX_WORDS and (c.following or not c.stems <= question_forms)
        ]
        scored.sort(key=lambda x: -x.score)
        pool = scored[:MAX_BRIDGE_CANDIDATES]
        bridged = [self._with_bridge(x, pool) for x in pool]
        self.scored = sorted([*bridged, *scored[MAX_BRIDGE_CANDIDATES:]], key=lambda x: -x.score)
        self.best = next((x for x in self.scored if x.candidate.is_quotable), None)

    def missing_words(self, candidate: Candidate) -> list[str]:
        """List the question's names and words that a candidate and its page title lack."""
        question, missing = self.question, self._missing_terms(candidate)
        names = [name for name in question.names if name_stems(name) & set(missing)]
        others = [question.word_of(term) for term in missing if term not in question.name_terms]
        return list(dict.fromkeys([*names, *others]))

    def _missing_terms(self, candidate: Candidate) -> list[str]:
        stated, stems = candidate.stated_stems, candidate.stems | candidate.heading_stems
        terms = self.question.terms
        return [t for t in terms if t not in stated and not self.forms[t] & stems]

    @functools.cached_property
    def is_insufficient(self) -> bool:
        """Whether the best candidate covers too little of the question for an answer.

        A lower share is enough if a page about something named in the question was read. An answer
        to "why" must give a reason, and one to "who" must mention what the person is or did:
        without this check, only 4 of 20 answers were right.
        """
        best, question = self.best, self.question
        names = [name_stems(name) for name in question.names]
        titles = {c.title for c in self.candidates if c.title}
        is_named = not names or any(n <= t or t <= n for n in names for t in titles)
        if best is None or best.covered < MIN_COVERED + (0 if is_named else UNNAMED_PENALTY):
            return True
        if question.kind is AnswerKind.REASON and not kind_score(best.candidate.text, question):
            return True
        stated = best.candidate.stated_stems | best.candidate.context
        if best.bridge:
            stated |= best.bridge.stated_stems
        role = question.role
        return bool(role) and not any(
            t in stated or self.forms.get(t, _NO_STEMS) & stated for t in role
        )

    def margin(self, x: Scored) -> float:
        """Return the margin by which an answer outscores the next different one (`MAX_MARGIN`).

        A different answer is in another passage, shares less than `MIN_SAME_SHARE` of the words,
        and, if the question asks for a date, number or name, has another one. The margin is 0 if
        another page gives a similar but different measurement of the subject.
        """
        own, values = x.candidate, requested_values(x.candidate.full_text, self.question)
        if any(self._is_measured_differently(own, other.candidate) for other in self.scored):
            return 0.0
        for other in self.scored:
            candidate = other.candidate
            if not candidate.is_quotable or candidate.passage.id == own.passage.id:
                continue
            if values:
                others = requested_values(candidate.full_text, self.question)
                if not others or others & values:
                    continue
            if len(candidate.stems & own.stems) < MIN_SAME_SHARE * len(candidate.stems | own.stems):
                return min(MAX_MARGIN, x.score - other.score)
        return MAX_MARGIN

    def _is_measured_differently(self, own: Candidate, other: Candidate) -> bool:
        """Return whether another page gives a similar but different measurement of the subject.

        The score does not show this if the other page uses other words ("is 4,120 m high", "its
        summit stands at 4,165 m"). Measurements that differ more are of something else.
        """
        question = self.question
        subject = question.name_terms or frozenset(question.terms)
        if (
            question.kind is not AnswerKind.NUMBER
            or other.page == own.page
            or not subject <= other.stated_stems
        ):
            return False
        pairs = [
            (value, b.value, a.is_approximate or b.is_approximate)
            for a in extract_facts(own.text).figures
            for b in extract_facts(other.text).figures
            if a.unit and b.unit and (value := a.unit.convert(a.value, b.unit))
        ]
        similar = [
            pair
            for pair in pairs
            if 1 / MAX_SIMILAR_RATIO <= pair[1] / pair[0] <= MAX_SIMILAR_RATIO
        ]
        return bool(similar) and not any(
            is_approximate or is_rounded(one, two) or is_rounded(two, one)
            for one, two, is_approximate in similar
        )

    def fit(self, x: Scored) -> Fit:
        """Measure how well a candidate fits the question."""
        question, candidate = self.question, x.candidate
        missing = set(self._missing_terms(candidate))
        has_value: bool | None = None
        if question.kind not in (AnswerKind.THING, AnswerKind.WAY):
            has_value = kind_score(candidate.full_text, question) == 1
            if has_value and not _value_near_term(candidate.text, question):
                has_value = None  # the value may belong to something else
        return Fit(
            covered=round(x.covered, 3),
            margin=round(self.margin(x), 3),
            stated=round(sum(idf for term, idf in self._idf.items() if term not in missing), 3),
            has_value=has_value,
        )

    def density(self, candidate: Candidate) -> float:
        """Return how close together the question's words are in a candidate (0-1).

        The value is the number of these words, divided by the number of content words in the
        shortest span that contains them all. Scattered words often belong to different statements.
        """
        known = {form: term for term in self.question.terms for form in (term, *self.forms[term])}
        found = [known.get(one) for one in _ordered_stems(candidate, self.question)]
        shared = len({*found} - {None})
        spans = [_span_length(found[at:], shared) for at, term in enumerate(found) if term]
        return shared / min(spans, default=1)

    def closest(self, limit: int) -> list[Candidate]:
        """Return the best candidates from different relevant passages, best first.

        They are not quoted as the answer, so any line is acceptable, including code or a list item.
        If a candidate is a question in the page text, as in an interview, the passage that answers
        it is returned instead. The passage's other words and its page's rank in the search results
        affect the score. A bridge sentence directly follows the candidate that depends on it.
        """
        best: dict[str, Scored] = {}  # by passage id
        for x in self.scored:
            best.setdefault(x.candidate.passage.id, x)
        stems: dict[str, list[str]] = {id_: [] for id_ in best}
        for c in self.candidates:
            if c.passage.id in stems:
                stems[c.passage.id] += (*c.stems, *c.heading_stems)
        by_words = BM25(stems.values()).scores(self.question.terms)
        most_by_words = max(by_words, default=0.0) or 1.0
        most_found = max(self._found.values(), default=0.0) or 1.0
        score = {
            id_: x.score
            + PASSAGE_WEIGHT * words / most_by_words
            + RESULT_RANK_WEIGHT * self._found.get(x.candidate.page, 0.0) / most_found
            for (id_, x), words in zip(best.items(), by_words, strict=True)
        }
        shown: dict[str, Candidate] = {}
        for id_ in sorted(score, key=lambda id_: -score[id_]):
            x = best[id_]
            if x.covered >= MIN_RELEVANT_SHARE:
                for candidate in filter(None, (x.candidate, x.bridge)):
                    answer = self._answer_below(candidate)
                    shown.setdefault(answer.passage.id, answer)
            if len(shown) >= limit:
                break
        return [*shown.values()][:limit]

    def _answer_below(self, c: Candidate) -> Candidate:
        """Replace a question in the page text with the first candidate in the answering passage.

        Other candidates are returned unchanged.
        """
        if not (c.following and c.text.endswith("?")):
            return c
        below = c.following[0].id
        return next((other for other in self.candidates if other.passage.id == below), c)

    def coverage(self, stems: Iterable[str]) -> float:
        """Return the share (0-1) of the question's weight that these stems cover."""
        known = set(stems)
        return sum(w for t, w in self.weight.items() if t in known or self.forms[t] & known)

    def _score(self, c: Candidate, bridge: Candidate | None = None) -> Scored:
        own, covered = 0.0, 0.0
        for term, weight in self.weight.items():
            in_other_form = bool(self.forms[term] & (c.stems | c.heading_stems))
            in_other_form |= term in c.heading_stems
            if term not in self.question.inherited:
                if term in c.stems:
                    own += weight
                elif in_other_form:
                    own += weight * NEARBY_WEIGHT
            if term in c.stated_stems or (bridge is not None and term in bridge.stated_stems):
                covered += weight
            elif in_other_form or term in c.context:
                covered += weight * NEARBY_WEIGHT
        if self.question.inherited and not own:
            covered = 0.0  # it matches only the earlier question
        kind = kind_score(c.full_text, self.question)
        if c.following and self.question.kind is AnswerKind.WAY:
            kind = 1.0
        if kind == 1 and not _value_near_term(c.text, self.question):
            kind = 0.5
        focus = bool(self.question.focus & c.stated_stems)
        score = (
            CONTEXT_WEIGHT * covered
            + SENTENCE_WEIGHT * own
            + KIND_WEIGHT * kind
            + FOCUS_WEIGHT * focus
        )
        return Scored(c, covered, score, bridge)

    def _with_bridge(self, x: Scored, pool: Sequence[Scored]) -> Scored:
        """Pair a candidate with the sentence from another page that best complements it, if any.

        Two sentences belong together if one names the subject of the other's page.
        """
        c = x.candidate
        pairs = [
            self._score(c, other)
            for other in (y.candidate for y in pool if y.candidate.page != c.page)
            if self._names_page(other, c) or self._names_page(c, other)
        ]
        best = max(pairs, key=lambda pair: pair.score, default=x)
        return best if best.covered >= x.covered + MIN_BRIDGE_GAIN else x

    def _names_page(self, a: Candidate, b: Candidate) -> bool:
        """Return whether `a`, but not the question, names the subject of `b`'s page.

        For example, if the question asks for a diocese, "born in Fredericton" names the subject of
        the page "Diocese of Fredericton".
        """
        subject = b.title - (self._topics - self.question.name_terms)
        return subject <= a.stems and not subject <= self._topics


def _with_heading(c: Candidate, topics: frozenset[str]) -> Candidate:
    """Make a list item or line quotable with its heading, if the question is about the heading."""
    heading = c.passage.heading.rpartition(HEADING_SEPARATOR)[2].removeprefix(FOLDED)
    is_line = c.passage.kind == "list" or (c.passage.kind == "text" and "\n" not in c.passage.text)
    if c.is_quotable or not is_line or not topics & set(content_words(heading)):
        return c
    return replace(c, is_quotable=True, shown_heading=heading)


def extract_candidates(
    observations: Iterable[Observation], question: Question | None = None
) -> list[Candidate]:
    """Extract candidates from all passages shown; text repeated on a page counts once.

    If the `question` is not in English, their stems include those in its language. A list's later
    pages get the title of its first page.
    """
    foreign = question if question and question.language else None
    found: dict[tuple[str, str], Candidate] = {}
    titles = {o.url: o.title for o in observations if o.title}
    list_titles: dict[str, str] = {}  # URL of a later page -> title of the list's first page
    for o in observations:
        tables = (passage for passage in o.passages if passage.kind == "table")
        headers = frozenset(row.heading.rpartition(HEADING_SEPARATOR)[2] for row in tables)
        title = list_titles.get(o.url, o.title or titles.get(o.url, ""))
        if o.get("next"):
            list_titles.setdefault(str(o.get("next")), title)
        changed = " ".join(line for line in o.snapshot.split("\n") if line.startswith("~"))
        above = ""  # a table's caption and first row
        for at, passage in enumerate(o.passages):
            is_row = passage.kind == "table"
            if not is_row:
                above = "" if _ends_sentence(passage.text) else passage.text
            elif at == 0 or o.passages[at - 1].kind != "table":
                above = f"{above} {passage.text}"
            beside = f"{above} {changed}" if is_row else changed
            for candidate in split_candidates(passage, title, o.url, headers, beside, foreign):
                key = (o.url, candidate.text)
                following: tuple[Passage, ...] = ()
                if introduces_next(candidate.text):
                    following = _following_passages(o.passages, at)
                if following:
                    found.setdefault(key, replace(candidate, is_quotable=True, following=following))
                else:
                    found.setdefault(key, candidate)
    return list(found.values())


def _following_passages(passages: Sequence[Passage], at: int) -> tuple[Passage, ...]:
    """Return the text or the list items directly below a passage that introduces them."""
    below: list[Passage] = []
    for previous, passage in itertools.pairwise(passages[at : at + MAX_ITEMS + 1]):
        is_adjoining = 0 <= passage.start - previous.end <= MAX_ADJOINING_GAP
        if not is_adjoining or passage.kind not in ("text", "list"):
            break
        if below and "text" in (passage.kind, previous.kind):
            break
        below.append(passage)
    return tuple(below)


@functools.lru_cache(maxsize=4096)
def split_candidates(
    passage: Passage,
    title: str,
    page: str,
    headers: frozenset[str],
    beside: str,
    foreign: Question | None,
) -> tuple[Candidate, ...]:
    """Split a passage into candidates; cached, since every step processes all passages."""
    if passage.kind == "heading":
        return ()
    stems_of = foreign.stems_of if foreign else _content_stems
    above, columns, is_row = passage.heading, named_cells(passage), passage.kind == "table"
    pieces: Iterable[str] = _sentences(passage.text)
    if is_row:
        row = " | ".join(split_row(passage.text))
        pieces = [] if row in headers or is_table_rule(passage.text) else [row]
        above = above.rpartition(HEADING_SEPARATOR)[0] if columns else above
        above = " ".join([above, *(name for name, cell in columns if cell)])
    # Text under a heading that asks a question answers it.
    question = above.rpartition(HEADING_SEPARATOR)[2] if above.endswith("?") else ""
    question_stems = stems_of(question)
    title_stems = stems_of(bare_title(title))
    context = stems_of(f"{passage.text} {passage.heading} {beside}")
    found: list[Candidate] = []
    for text in pieces:
        stems = stems_of(text)
        if stems and (columns or any(map(str.isalpha, text))):
            found.append(
                Candidate(
                    text,
                    passage,
                    page,
                    stems=stems | question_stems,
                    title=title_stems,
                    context=context,
                    heading_stems=stems_of(above),
                    is_quotable=is_row or _ends_sentence(text),
                )
            )
    return tuple(found)


def _content_stems(text: str) -> frozenset[str]:
    return frozenset(content_words(text))


def _sentences(text: str) -> Iterator[str]:
    """Yield a passage's sentences without bullets and footnote markers.

    Wrapped lines are joined. A question in the text is joined with the sentence that follows it.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        previous = lines[-1] if lines else ""
        may_continue = len(previous) >= MIN_WRAPPED_LINE_CHARS or line.lstrip()[:1].islower()
        is_complete = _ends_sentence(previous) or introduces_next(previous)
        if previous and may_continue and not is_complete:
            lines[-1] = f"{previous.rstrip()} {line.lstrip()}"
        else:
            lines.append(line)
    for line in lines:
        mark, space, rest = line.strip().partition(" ")
        bare = rest.strip() if space and not mark.strip(BULLETS) else line.strip()
        bare = bare.removeprefix(FOLDED)
        first: int | None = None
        for start, end in sentences(bare):
            if first is None:
                first = start
            if not bare[start:end].endswith("?") or end == len(bare.rstrip()):
                yield _NOTES.sub("", bare[first:end])
                first = None


def _ends_sentence(text: str) -> bool:
    return text.rstrip(_CLOSERS).endswith(_SENTENCE_ENDS)


def _synonyms(term: str) -> frozenset[str]:
    return frozenset().union(*(group for group in _synonym_stems() if term in group)) - {term}


@functools.cache
def _synonym_stems() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(map(stem, group)) for group in synonym_groups())


def _ordered_stems(c: Candidate, question: Question) -> list[str]:
    """Return the stems of a candidate's content words, in order and with duplicates.

    For a table row, they include the column names; for a line, the heading shown above it.
    """
    text = f"{c.shown_heading} {c.full_text}"
    if c.passage.kind == "table":
        text = " ".join(f"{head} {cell}" for head, cell in named_cells(c.passage)) or c.text
    if question.language is not None:
        return stems_in(question.language, text)
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def _span_length(terms: Sequence[str | None], wanted: int) -> float:
    """Return the length of the shortest prefix of a list that contains `wanted` distinct terms."""
    found: set[str] = set()
    for length, term in enumerate(terms, 1):
        if term:
            found.add(term)
        if len(found) == wanted:
            return length
    return math.inf


def kind_score(text: str, question: Question) -> float:
    """Return 1 if the text, but not the question, has a value of the requested kind, otherwise 0.

    Return 0.5 if the question does not request a kind. English only.
    """
    match question.kind:
        case AnswerKind.DATE:
            has_clock = any(
                ":" in token.strip(":") and token[0].isdigit() for token in text.split()
            )
            return float(has_clock or bool(requested_values(text, question)))
        case AnswerKind.NUMBER | AnswerKind.PERSON | AnswerKind.PLACE:
            return float(bool(requested_values(text, question)))
        case AnswerKind.REASON:
            new = set(words(text)) - set(words(question.text))
            return float(bool(_REASONS & new))
        case AnswerKind.THING | AnswerKind.WAY:
            return 0.5


def requested_values(text: str, question: Question) -> frozenset[str]:
    """Return the words in a text's dates, numbers or names, depending on the question's kind.

    Words in the question itself are omitted. If it asks for anything else, the result is empty.
    English only.
    """
    known = set(words(question.text))
    match question.kind:
        case AnswerKind.DATE:
            return frozenset(w for w in words(text) if w not in known and _is_time(w))
        case AnswerKind.NUMBER:
            return frozenset(w for w in words(text) if w not in known and _is_amount(w))
        case AnswerKind.PERSON | AnswerKind.PLACE:
            # Every sentence begins with a capital letter, so the first one does not mark a name.
            names = find_names(text[:1].lower() + text[1:])
            return frozenset().union(*map(name_stems, names)) - set(question.terms)
        case _:
            return frozenset()


def _value_near_term(text: str, question: Question) -> bool:
    """Return whether a date or amount is near one of the question's words; True for other kinds.

    At most `MAX_WORDS_BETWEEN` other words may be in between. Names and stop words are not counted,
    but pronouns are, since they begin a clause ("born in Paris, he moved away in 1925").
    """
    if question.kind not in (AnswerKind.DATE, AnswerKind.NUMBER):
        return True
    terms = set(question.terms) - question.name_terms or set(question.terms)
    known = set(words(question.text))
    is_value = _is_time if question.kind is AnswerKind.DATE else _is_amount
    from_term = from_value = math.inf
    for token in text.split():
        new = [word for word in words(token) if word not in known]
        if terms & set(content_words(token)):
            from_term = 0
        elif any(map(is_value, new)):
            from_value = 0
        elif token.strip(MARKS).islower() and any(
            word in PRONOUNS or word not in STOP_WORDS for word in new
        ):
            from_term, from_value = from_term + 1, from_value + 1
        if from_term + from_value <= MAX_WORDS_BETWEEN:
            return True
    return False


def _is_amount(word: str) -> bool:
    is_year = len(word) == 4 and word.isdigit() and word[:2] in ("16", "17", "18", "19", "20")
    return (word[0].isdigit() and not is_year) or word in _AMOUNTS


def _is_time(word: str) -> bool:
    """Return whether a word may be a time: three or more digits, a decade (`1990s`), a month."""
    figures = word.removesuffix("s").removesuffix("bc").removesuffix("ad")
    return (figures.isdigit() and len(figures) >= 3) or is_month(word) or word == "century"
