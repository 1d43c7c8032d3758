"""Labels, facts and table rows of a report, shared by all output formats.

The exports, the terminal, the channels and the MCP server all use them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from agent.models.providers import EXTRACTIVE
from agent.options import hint_for
from agent.types import Report, VerdictState, format_usd
from browser.text.words import BM25, content_words, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agent.options import Surface
    from agent.types import (
        CheckedReference,
        ClosePassage,
        ConfidenceParts,
        Conflict,
        ContrarySearch,
        RecheckedSentence,
        ReportSource,
        Sentence,
    )

VERDICT_LABELS = {
    VerdictState.SUPPORTED: "supported",
    VerdictState.DONE: "done",
    VerdictState.ATTEMPTED: "attempted, outcome unknown",
    VerdictState.CONTRADICTED: "contradicted",
    VerdictState.UNDECIDED: "not verified",
    VerdictState.UNCITED: "uncited",
}
SEARCH_RESULT_ONLY = "search result only"
"""Label of a sentence supported only by search results."""
TO_CHECK = "Check these sentences: a figure, date or name is missing from the cited source"
"""Title of the list of a draft's sentences that are most likely wrong."""
SEARCH_COLUMNS = ("query", "provider", "outcome", "results", "ms")
REFERENCE_COLUMNS = ("reference", "", "found")
_REFERENCE_STATES = {
    "ok": "reachable",
    "moved": "moved",
    "dead": "dead",
    "not_read": "not read",
    "not_checked": "not checked",
}
RECHECK_LABELS = {
    "stands": "stands",
    "moved": "moved",
    "changed": "changed",
    "gone": "gone",
    "contradicted": "contradicted",
    "not_checked": "not checked",
}
RECHECK_COLUMNS = ("sentence", "today", "found")
_ANSWERS = {
    "fully": "answers the question",
    "in part": "answers the question in part",
    "no": "does not answer the question",
}
CLOSEST_WITHOUT_MODEL = "There is no answer without a language model. These passages are relevant:"
CLOSEST = "These passages are relevant to the question:"
"""Titles of the passages shown in place of an answer: without and with a language model."""
MAX_QUOTE_CHARS = 240
"""Maximum length of a quote in a note, in characters: about three lines in a terminal."""


def verdict_label(sentence: Sentence, report: Report) -> str:
    """Return the label for a sentence's verdict."""
    if sentence.about_search:
        return "about the search"
    if report.references and _is_rejected_by_judge(sentence):
        return "not supported"
    if sentence.holds and conflicts_of(sentence, report):
        return "disputed"
    if sentence.weak:
        return SEARCH_RESULT_ONLY
    return VERDICT_LABELS.get(sentence.verdict, sentence.verdict.value)


def badge_kind(report: Report) -> str:
    """Return the verdict or status that determines a badge's colour."""
    if not _has_answer(report):
        return report.status
    if report.standing in ("contradicted", "disputed"):
        return "contradicted"
    is_good = report.status == "answered" and report.standing == "supported" and not report.doubt
    return "supported" if is_good else "undecided"


def _has_answer(report: Report) -> bool:
    return report.status in ("answered", "partial")


def doubt_line(report: Report) -> str:
    """Return a warning that an answer may be wrong, with the reason; empty if there is no doubt."""
    if report.doubt is None:
        return ""
    return f"This may not answer the question: {report.doubt} (confidence {report.confidence:.2f})."


def error_line(report: Report, surface: Surface = "shell") -> str:
    """Return the reason why a run failed or stopped, with a hint; empty without an error."""
    error = report.error
    return f"{error.message.rstrip('.')}. {hint_for(surface, error.hint)}".strip() if error else ""


def head_lines(report: Report, surface: Surface = "shell") -> list[str]:
    """List the warnings to show before the answer, as plain text.

    These are the badge (unless the answer is supported), the doubt and the error.
    """
    is_plain = report.status == "answered" and report.badge == "answered"
    head = "" if is_plain else f"{report.badge.capitalize()}."
    if report.status == "partial":
        head = f"{head} The run stopped early; this is what was found so far."
    return [line for line in (head, doubt_line(report), error_line(report, surface)) if line]


def closest_title(report: Report) -> str:
    """Return the title of the passages that are shown if there is no answer."""
    return CLOSEST_WITHOUT_MODEL if report.usage.model == EXTRACTIVE else CLOSEST


def closest_place(passage: ClosePassage) -> str:
    """Return the location of a closest passage: page title, page number and headings."""
    page = f"page {passage.page}" if passage.page is not None else ""
    return ", ".join(
        filter(None, dict.fromkeys((passage.title or passage.url, page, passage.heading)))
    )


def closest_lines(report: Report) -> list[str]:
    """Format the relevant passages as plain text."""
    return [
        f"- “{' '.join(one.text.split())}” [{one.source}] {closest_place(one)}"
        for one in report.closest
    ]


def text_parts(report: Report) -> list[str]:
    """Format a report as Markdown parts: head, answer, unverified sentences, passages, sources.

    Channels, notifications, and clients of the server and of MCP show these parts.
    """
    listed = [f"- {s.text} ({verdict_label(s, report)})" for s in other_unsupported(report)]
    faulty = [f"- {text} ({why})" for text, why in faults(report)] if report.references else []
    again = [
        f"- {text} — {'; '.join(filter(None, (label, found)))}"
        for text, label, found in map(recheck_cells, report.rechecked)
    ]
    sources = [f"[{s.n}] {s.title or s.url} — {s.url}" for s in report.sources]
    parts = [
        " ".join(head_lines(report)),
        annotated_answer(report),
        "\n".join(["Not verified:", *listed]) if listed else "",
        "\n".join([CHALLENGES, *(f"- {line}" for line in challenge_lines(report))])
        if report.challenges
        else "",
        "\n".join(["Faults:", *faulty]) if faulty else "",
        "\n".join([recheck_summary(report), *again]) if again else "",
        "\n".join([closest_title(report), *closest_lines(report)]) if report.closest else "",
        "\n".join(["Sources:", *sources]) if sources else "",
    ]
    return [part for part in parts if part]


def saved_text(saved: Mapping[str, Any]) -> str:
    """Format a job's saved report as Markdown; reminders and page monitors have plain text."""
    if "run" not in saved:
        return str(saved.get("answer", ""))
    return "\n\n".join(text_parts(Report.model_validate(saved)))


def mark_sentences(report: Report) -> tuple[str, set[int]]:
    """Insert each sentence's number after it in the answer, between private-use characters.

    Returns the marked answer and the numbers of the sentences that occur in it.
    """
    markdown, at = report.answer.translate(_PRIVATE_USE), 0
    found = set()
    for number, sentence in enumerate(report.sentences):
        text = sentence.text.rstrip("| ")  # the markers of a table row are in its last cell
        start = markdown.find(text, at)
        if start >= 0:
            at = start + len(text)
            # Inserted after a space, so that Markdown still recognises the end of bold text before
            # it.
            markdown = f"{markdown[:at]} \ue000{number}\ue001{markdown[at:]}"
            found.add(number)
    return markdown, found


_PRIVATE_USE = str.maketrans("", "", "\ue000\ue001")
CITATION_RE = re.compile(r"\[(\d{1,3})\]")
"""A citation of a source by number in a report."""
_SENTENCE_MARK_RE = re.compile(r" \ue000(\d+)\ue001((?:\s*\[\d{1,3}\])*)")


def nearest_quote(source: ReportSource, sentence: str) -> int:
    """Return the position of the source's quote that is most similar to a sentence."""
    best = BM25(map(content_words, source.quotes)).best(content_words(sentence), 1)
    return best[0][0] if best else 0


def marker(source: ReportSource, sentence: str) -> str:
    """Return a source's number in a citation, with the page in a paged document: `1, p. 7`."""
    if len(source.pages) != len(source.quotes) or not source.quotes:
        return str(source.n)
    return f"{source.n}, p. {source.pages[nearest_quote(source, sentence)]}"


def shown_address(url: str) -> str:
    """Return a source's address as shown in exports."""
    return unquote(url.rpartition("/")[2]) if url.startswith("file:") else url


def paged_quotes(source: ReportSource) -> list[str]:
    """Return a source's quotes, with page numbers if the document has pages."""
    if len(source.pages) != len(source.quotes):
        return source.quotes
    return [f"{quote} (p. {page})" for quote, page in zip(source.quotes, source.pages, strict=True)]


def annotated_answer(report: Report) -> str:
    """Return the answer with page numbers, and notes on sentences that a source contradicts."""
    markdown, found = mark_sentences(report)
    notes = [sentence_note(sentence, report) for sentence in report.sentences]
    sources = {source.n: source for source in report.sources}

    def annotate(match: re.Match[str]) -> str:
        note, text = notes[int(match[1])], report.sentences[int(match[1])].text
        shown = CITATION_RE.sub(
            lambda n: f"[{marker(sources[int(n[1])], text)}]" if int(n[1]) in sources else n[0],
            match[2],
        )
        return f"{shown} — {note.rstrip('.')}." if note else shown

    lost = [
        f"- {sentence.text} — {note}"
        for number, (sentence, note) in enumerate(zip(report.sentences, notes, strict=True))
        if note and number not in found
    ]
    return "\n\n".join(filter(None, (_SENTENCE_MARK_RE.sub(annotate, markdown), "\n".join(lost))))


def sentence_note(sentence: Sentence, report: Report) -> str:
    """Return a note on the source that contradicts a sentence, with dates; empty if none does.

    Example: `disputed: [2] (2021-03-04, newer) says “It opened in 1931.”; [1] is dated 2015-06-01`
    """
    if sentence.verdict is VerdictState.CONTRADICTED:
        return f"contradicted: {sentence.reason}"
    return "; ".join(conflict_note(one, report) for one in conflicts_of(sentence, report))


def conflicts_of(sentence: Sentence, report: Report) -> list[Conflict]:
    """List a sentence's conflicts with other sources."""
    return [conflict for conflict in report.conflicts if conflict.text == sentence.text]


def supported_label(sentences: Sequence[Sentence], report: Report) -> str:
    """Count the supported sentences, and how many of them other sources dispute."""
    disputed = sum(bool(conflicts_of(sentence, report)) for sentence in sentences)
    label = f"{len(sentences)} sentence{'s' * (len(sentences) != 1)} supported by the sources"
    return f"{label}, {disputed} of them disputed" if disputed else label


def conflict_note(conflict: Conflict, report: Report) -> str:
    """Format a conflict: the other source's quote, both dates, and which is newer."""
    dates = {source.n: (source.published or "")[:10] for source in report.sources}

    def dated(n: int) -> str:
        words = [dates.get(n) or "no date", "newer" if n in conflict.newer else ""]
        return ", ".join(filter(None, words))

    quote = shorten(conflict.quote, MAX_QUOTE_CHARS, whole_words=True)
    own = "".join(f", [{n}] ({dated(n)})" for n in conflict.citations)
    return (
        f"disputed: [{conflict.source}] ({dated(conflict.source)}) says “{quote}”, against{own[1:]}"
    )


def _is_rejected_by_judge(sentence: Sentence) -> bool:
    """Return whether a judge checked the cited source and did not find the sentence in it."""
    undecided = sentence.verdict is VerdictState.UNDECIDED
    return undecided and bool(sentence.citations) and sentence.decided_by == "judge"


def faulty_sentences(report: Report) -> list[Sentence]:
    """List the faulty sentences of an audited draft.

    A sentence is faulty if a page contradicts it, or if a judge did not find it in the cited
    source. Other undecided sentences are not included.
    """
    return [
        sentence
        for sentence in report.sentences
        if sentence.verdict is VerdictState.CONTRADICTED or _is_rejected_by_judge(sentence)
    ]


def faults(report: Report) -> list[tuple[str, str]]:
    """List the faults of an audited draft with reasons: sentences, then references."""
    found = [(sentence.text, sentence.reason) for sentence in faulty_sentences(report)]
    return found + [(r.url or r.doi or r.text, why) for r in report.references for why in r.wrong]


def sentences_to_check(report: Report) -> list[Sentence]:
    """List a draft's undecided sentences with a value that is missing from the cited source.

    In six drafts by an author who did not know the code, the list contained 16 of the 36 faulty
    sentences and 2 of the 58 true ones.
    """
    faulty = faulty_sentences(report)
    undecided = (s for s in report.sentences if s.verdict is VerdictState.UNDECIDED)
    return [sentence for sentence in undecided if sentence.missing and sentence not in faulty]


def other_unsupported(report: Report) -> list[Sentence]:
    """List the unsupported claims that are neither marked in the answer nor listed elsewhere."""
    if report.rechecked:
        return []  # each sentence is listed with its result
    listed = [*faulty_sentences(report), *sentences_to_check(report)] if report.references else []
    noted = [s for s in report.sentences if sentence_note(s, report)]
    return [s for s in report.unsupported if s not in listed and s not in noted]


def confidence_facts(report: Report) -> list[str]:
    """List the confidence and its components, each in a few words; empty without an answer.

    For an audited draft, the sentences are counted by verdict instead; for a recheck, the list is
    empty.
    """
    if report.rechecked:
        return []  # `recheck_summary` reports it
    if report.references:
        unsure, total = sentences_to_check(report), len(report.sentences)
        labels = Counter(verdict_label(s, report) for s in report.sentences if s not in unsure)
        supported = labels.pop(VERDICT_LABELS[VerdictState.SUPPORTED], 0)
        facts = [f"{supported} of {total} sentence{'s' * (total != 1)} supported"] if total else []
        facts += [f"{len(unsure)} to check"] if unsure else []
        return facts + [f"{count} {label}" for label, count in labels.items()]
    if not report.claims or not _has_answer(report):
        return []
    value, parts = report.confidence, report.confidence_parts
    if value is None and all(s.verdict is VerdictState.DONE for s in report.claims):
        count = len(report.claims)  # steps of a rerun, or actions that the user requested
        return [f"{count} step{'s' * (count != 1)} confirmed"]
    weak = sum(sentence.weak for sentence in report.sentences)
    facts = [
        "confidence not rated" if value is None else f"confidence {value:.2f}",
        _ANSWERS[parts.answers] if parts.answers else "",
        f"{_share(parts.supported)} supported",
        f"{weak} of {len(report.sentences)} supported only by a search result" if weak else "",
        _origins(parts),
    ]
    if parts.agreement < 1:
        facts.append(f"{parts.agreement:.0%} agreement between sources")
    elif (parts.origins or parts.sites) > 1:
        facts.append("sources agree")
    facts.append(f"covers {_share(parts.coverage)} of the question's words")
    if parts.freshness is not None:
        days = parts.freshness
        age = f"{days} day{'s' * (days != 1)}" if days < 2 * 365 else f"{days // 365} years"
        facts.append(f"newest source {age} old")
    return [fact for fact in facts if fact]


def run_facts(report: Report, *, space: str = " ") -> list[str]:
    """List a report's steps, seconds, model and cost, if known; a rerun has no model."""
    usage = report.usage
    facts = [
        f"{report.steps} step{'s' * (report.steps != 1)}" if report.steps else "",
        f"{report.elapsed_s:.1f}{space}s",
        usage.model,
        format_usd(usage.usd),
    ]
    return [fact for fact in facts if fact]


def _origins(parts: ConfidenceParts) -> str:
    """Count the sites that support the answer, or its pages and origins if some are copies."""
    origins = parts.origins or parts.sites
    if origins < parts.sites:
        return f"{parts.pages} pages, {origins} origin{'s' * (origins != 1)}"
    return "one site" if origins == 1 else f"{origins} independent sites"


def _share(value: float) -> str:
    return "all" if value == 1 else f"{value:.0%}"


def source_note(source: ReportSource, at: str) -> str:
    """Describe how and when a source was read."""
    dated = f", dated {source.published[:10]}" if source.published else ""
    dated += f", the same text as [{source.copy_of}]" if source.copy_of else ""
    if source.via == "snippet":
        return f"search result from {at}; the page itself was not read{dated}"
    if source.via == "computed":
        return f"computed {at} from values on the pages"
    return f"read {at} via {source.via}{dated}"


def reference_cells(reference: CheckedReference) -> tuple[str, str, str]:
    """Return the table cells for a reference: name, state, and all findings."""
    found = [
        f"source [{reference.source}]" if reference.source else "",
        *reference.wrong,
        f"now {reference.now}" if reference.now else "",
        *reference.notes,
        f"archived copy: {reference.archived}" if reference.archived else "",
    ]
    name = f"[{reference.key}] {reference.text}" if reference.key else reference.text
    return name, _REFERENCE_STATES[reference.state], "; ".join(filter(None, found))


CHALLENGES = "Searched for opposing evidence:"
"""Title of the challenged claims."""


def challenge_lines(report: Report) -> list[str]:
    """List the challenged claims, each with its search for opposing evidence and cited source."""
    cited = {sentence.text: _cited_source(sentence) for sentence in report.sentences}
    return [
        f"{one.text} — {_challenge_found(one)} (query “{one.query}”){cited.get(one.text, '')}"
        for one in report.challenges
    ]


def _cited_source(sentence: Sentence) -> str:
    """Name the source that a sentence's page cites for it; empty if no source was looked up."""
    if sentence.primary:
        return f"; the primary source is [{sentence.primary}]"
    return f"; its page cites {sentence.secondary_to} for it" if sentence.secondary_to else ""


def _challenge_found(one: ContrarySearch) -> str:
    count = len(one.read)
    pages = f"{count} further page{'s' * (count != 1)} read" if count else "no further page found"
    return f"{'a source disagrees' if one.found else 'no source disagrees'}; {pages}"


def recheck_label(row: RecheckedSentence) -> str:
    """Return the label for a rechecked sentence."""
    label = RECHECK_LABELS[row.state]
    return f"{label}, still supported" if row.state == "changed" and row.holds else label


def recheck_lines(row: RecheckedSentence) -> list[str]:
    """List the findings about an earlier report's sentence: wording, location, archived copy."""
    old, new = (" ".join(words.split()) for words in (row.old, row.new))
    shows_words = row.state in ("changed", "contradicted")
    lines = [
        f"then: “{old}”" if old and (shows_words or row.state == "gone") else "",
        f"now: “{new}”" if new and shows_words else "",
        f"{'source' if row.source else 'page'}: {_recheck_place(row)}",
        row.reason,
        f"archived copy: {row.archived}" if row.archived and not row.holds else "",
    ]
    return [line for line in lines if line]


def _recheck_place(row: RecheckedSentence) -> str:
    number = f"[{row.source}] " if row.source else ""
    if row.state == "moved" and "://" in row.now:
        return f"{number}{row.now}, previously at {row.url}"
    return f"{number}{row.url}"


def recheck_cells(row: RecheckedSentence) -> tuple[str, str, str]:
    """Return the cells for an earlier report's sentence, in the order of `RECHECK_COLUMNS`."""
    return row.text, recheck_label(row), "; ".join(recheck_lines(row))


def no_longer_supported_sentences(report: Report) -> list[RecheckedSentence]:
    """List the sentences of an earlier report that its pages no longer support."""
    return [row for row in report.rechecked if row.holds is False]


def recheck_summary(report: Report) -> str:
    """Count an earlier report's sentences by result."""
    counts = Counter(map(recheck_label, report.rechecked))
    held = sum(row.holds is True for row in report.rechecked)
    counted = "; ".join(f"{label}: {count}" for label, count in counts.items())
    return f"Still supported: {held} of {len(report.rechecked)} ({counted})."


def search_rows(report: Report) -> Iterable[tuple[str, ...]]:
    """Yield the cells of each search in the order of `SEARCH_COLUMNS`."""
    for s in report.searches:
        query = f"{s.query} (not sent: {s.withheld})" if s.withheld else s.query
        yield query, s.provider, s.outcome, str(s.results), str(s.ms)


def data_as_json(report: Report) -> str:
    """Format the schema's data as indented JSON."""
    return json.dumps(report.data, ensure_ascii=False, indent=2)


def tool_error(result: Any) -> str:
    """Return a tool's error from its result's data; empty if it succeeded."""
    return str(result.get("error") or "") if isinstance(result, dict) else ""


def parameter_text(param: str, between: str) -> str:
    """Join the values of a JSON parameter with `between`; return other parameters unchanged."""
    try:
        values = json.loads(param)
    except ValueError:
        return param
    return between.join(map(str, values.values())) if isinstance(values, dict) else param
