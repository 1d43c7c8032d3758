"""A run as one HTML file: no script, no remote request, readable in light, dark and print."""

from __future__ import annotations

import base64
import json
import re
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agent.evidence.passages import is_rule
from agent.export import report_view
from agent.export.markup import cite, cited, inline, prose, with_uncited
from agent.export.report_view import VERDICT_LABELS, source_note
from agent.export.run_record import FinishedRun, seconds_between, to_the_minute
from agent.journal.events import MAIN
from agent.types import VerdictState
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from agent.journal.events import Event
    from agent.types import Conflict, DataValue, Report, ReportSource, Sentence


_WORDS = {
    "answered": "answered",
    "not_found": "not found",
    "partial": "partial",
    "failed": "failed",
}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
{footer}
</body>
</html>
"""  # noqa: E501 - a policy is one line


def render_html(folder: Path) -> bytes:
    """Write the run as one HTML file."""
    record = FinishedRun.read(folder)
    return whole_page(record.report.question, report_body(record), _footer(record))


def whole_page(title: str, body: str, footer: str = "") -> bytes:
    """Write a page of its own around a body of HTML, in the style of reports."""
    style = resources.files("agent.export").joinpath("report.css").read_text(encoding="utf-8")
    page = _PAGE.format(title=escape(title), style=style, body=body, footer=footer)
    return clean(page).encode("utf-8", "replace")


def report_body(record: FinishedRun) -> str:
    """Write all parts of a report, with their contents where there are several."""
    parts = [
        _head(record.report),
        _data(record.report),
        _conflicts(record.report),
        _references(record.report),
        _sentences(record.report),
        sources(record),
        _way(record),
    ]
    return with_contents("\n".join(part for part in parts if part))


def _way(record: FinishedRun) -> str:
    """Write how it was found, folded: who wants the answer does not scroll past it."""
    report = record.report
    parts = [part for part in (_searches(report), steps(record)) if part]
    if not parts:
        return ""
    counts = ((len(report.searches), "search", "es"), (report.steps, "step", "s"))
    told = ", ".join(f"{n} {one}{more * (n != 1)}" for n, one, more in counts)
    inside = "\n".join(parts)
    return f'<details class="way"><summary>How it was found: {told}</summary>\n{inside}</details>'


_HEADING = re.compile(r"<h2>(.*?)</h2>", re.DOTALL)
_ANY_TAG = re.compile(r"<[^>]*>")


def with_contents(body: str) -> str:
    """Give headings names, and list them: beside the text where there is room."""
    titles: list[str] = []

    def named(match: re.Match[str]) -> str:
        titles.append(_ANY_TAG.sub("", match[1]))
        return f'<h2 id="part-{len(titles)}">{match[1]}</h2>'

    body = _HEADING.sub(named, body)
    rows = (f'<li><a href="#part-{n}">{title}</a></li>' for n, title in enumerate(titles, 1))
    nav = f'<nav class="contents" aria-label="Contents"><ol>{"".join(rows)}</ol></nav>\n'
    head, ended, rest = body.partition('<div class="answer">')
    return f"{head}{nav if titles else ''}{ended}{rest}"


def _head(report: Report) -> str:
    usage = report.usage
    facts = [
        f'<span class="status {report.status}">{_WORDS[report.status]}</span>',
        *report_view.confidence_facts(report),
        f"{report.steps} step{'s' * (report.steps != 1)}",
        f"{report.elapsed_s:.1f}\N{NO-BREAK SPACE}s",
        escape(usage.model),
        f"${usage.usd:.4f}" if usage.usd else "",
    ]
    shown = [f'<span class="fact">{fact}</span>' for fact in facts if fact]
    error = report.error
    failure = f'<p class="failed">{escape(error.message)} {escape(error.hint)}</p>' if error else ""
    said = report_view.low_confidence_warning(report)
    doubt = f'<p class="failed">{said}</p>\n' if said else ""
    answer = cited(prose(with_uncited(report.answer, report)), report)
    return (
        f"<h1>{escape(report.question)}</h1>\n"
        f'<p class="facts">{" · ".join(shown)}</p>\n'
        f'{_strip(report)}{doubt}<div class="answer">{answer}</div>{failure}'
    )


_STRIP = 6
"""Sources shown above an answer; all stand below it."""


def _strip(report: Report) -> str:
    """Write where the answer comes from, at a glance."""
    if not report.sources:
        return ""
    rows = [
        f'<li><a href="#source-{s.n}"><b>{s.n}</b> {escape(s.title or s.url)}'
        f" <span>{escape(urlsplit(s.url).netloc or s.via)}</span></a></li>"
        for s in report.sources[:_STRIP]
    ]
    more = len(report.sources) - _STRIP
    rest = f'<li><a href="#source-{_STRIP + 1}">and {more} more</a></li>' if more > 0 else ""
    return f'<ul class="strip" aria-label="Sources">{"".join(rows)}{rest}</ul>\n'


def _sentences(report: Report) -> str:
    """Write what is in doubt; what is carried stands folded: the answer has its marks."""
    if not report.sentences:
        return ""
    doubtful = report_view.other_unsupported(report)
    doubtful += [sentence for sentence in report.sentences if sentence.about_search]
    carried = [one for one in report.sentences if one.verdict is VerdictState.SUPPORTED]
    rows = [f'<ul class="sentences">{_rows(doubtful, report)}</ul>'] if doubtful else []
    if carried:
        many = f"{len(carried)} sentence{'s' * (len(carried) != 1)} that the sources carry"
        rows.append(
            f"<details><summary>{many}</summary>\n"
            f'<ul class="sentences">{_rows(carried, report)}</ul></details>'
        )
    return "<h2>What carries each sentence</h2>\n" + "\n".join(rows)


def _rows(sentences: Iterable[Sentence], report: Report) -> str:
    return "\n".join(_sentence(sentence, report) for sentence in sentences)


def _sentence(sentence: Sentence, report: Report) -> str:
    known = {source.n for source in report.sources}
    links = " ".join(cite(report, n, sentence.text) for n in sentence.citations if n in known)
    told = sentence.reason and not sentence.about_search
    reason = f' <span class="meta">{escape(sentence.reason)}</span>' if told else ""
    kind = "weak" if sentence.weak else sentence.verdict.value
    verdict = f'<span class="verdict {kind}">{report_view.verdict_label(sentence, report)}</span>'
    return f"<li>{inline(sentence.text)} {links}<br>{verdict}{reason}</li>"


def _data(report: Report) -> str:
    """Write the data of a schema and what carries each value; empty where no schema was given."""
    if not (report.values or report.data_notes):
        return ""
    rows = [_value(report, value) for value in report.values]
    table = _table("Values", ("value", "", "stands in"), rows) if rows else ""
    notes = "".join(f"<li>{escape(note)}</li>" for note in report.data_notes)
    return (
        f"<h2>Data</h2>\n{table}{f'<ul>{notes}</ul>' if notes else ''}"
        f"<details><summary>As JSON</summary>{_pre(report_view.data_as_json(report))}</details>"
    )


def _table(label: str, names: Sequence[str], rows: Iterable[str]) -> str:
    """Write a table that scrolls by itself where it is wide."""
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "\n".join(rows)
    return (
        f'<div class="wide" role="region" aria-label="{label}" tabindex="0">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _value(report: Report, value: DataValue) -> str:
    links = " ".join(cite(report, n, value.quote) for n in value.citations)
    verdict = f'<span class="verdict {value.verdict.value}">{VERDICT_LABELS[value.verdict]}</span>'
    shown = escape(json.dumps(value.value, ensure_ascii=False))
    return (
        f"<tr><td><code>{escape(value.pointer)}</code></td><td>{shown}<br>{verdict}</td>"
        f"<td>{escape(value.quote)} {links}</td></tr>"
    )


def _conflicts(report: Report) -> str:
    rows = "\n".join(_conflict(conflict, report) for conflict in report.conflicts)
    return f'<h2>Where sources disagree</h2>\n<ul class="sentences">\n{rows}\n</ul>' if rows else ""


def _conflict(conflict: Conflict, report: Report) -> str:
    carried = " ".join(cite(report, n, conflict.text) for n in conflict.citations)
    against = cite(report, conflict.source, conflict.quote)
    reason = f' <span class="meta">{escape(conflict.reason)}</span>' if conflict.reason else ""
    return (
        f"<li>{inline(conflict.text)} {carried}<br>"
        f'<span class="verdict contradicted">disputed</span> '
        f"“{escape(' '.join(conflict.quote.split()))}” {against}{reason}</li>"
    )


def _references(report: Report) -> str:
    """Write the references of an audited draft, and before them what does not hold in it."""
    if not report.references:
        return ""
    faults = report_view.faulty_sentences(report)
    wrong = _rows(faults, report) + "".join(
        f'\n<li>{inline(text)}<br><span class="verdict contradicted">does not hold</span> '
        f'<span class="meta">{escape(why)}</span></li>'
        for text, why in report_view.faults(report)[len(faults) :]
    )
    look = _rows(report_view.to_check(report), report)
    cells = map(report_view.reference_cells, report.references)
    rows = "\n".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in cells)
    head = "".join(f'<th scope="col">{name}</th>' for name in ("reference", "", "found"))
    listed = (("What does not hold", wrong), (report_view.TO_CHECK, look))
    return "".join(
        f'<h2>{head}</h2>\n<ul class="sentences">\n{items}\n</ul>\n'
        for head, items in listed
        if items
    ) + (
        '<h2>References</h2>\n<div class="wide" role="region" aria-label="References" tabindex="0">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )


def _searches(report: Report) -> str:
    if not report.searches:
        return ""
    rows = [
        f"<tr><td>{escape(s.query)}</td><td>{escape(s.provider)}</td><td>{escape(s.outcome)}</td>"
        f"<td>{s.results}</td><td>{s.ms}</td></tr>"
        for s in report.searches
    ]
    names = ("query", "provider", "outcome", "results", "ms")
    return f"<h2>Searches</h2>\n{_table('Searches', names, rows)}"


def _footer(record: FinishedRun) -> str:
    """Say what is needed to find the run again, and to check it."""
    report, usage = record.report, record.report.usage
    rows = {
        "run": report.run,
        "asked": to_the_minute(record.events[0].at),
        "model": usage.model,
        "model calls": f"{usage.model_calls:,}",
        "tokens": f"{usage.input_tokens:,} read, {usage.output_tokens:,} written",
        "cost": f"${usage.usd:.4f}" if usage.usd else "none",
        "head of the record": record.events[-1].hash,
    }
    facts = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in rows.items())
    return f"<footer>\n<dl>{facts}</dl>\n</footer>"


_AROUND = 320
"""Characters of the saved text shown before and after a quote."""
_FIRST_WORD, _LAST_WORD = re.compile(r"\A\S*\s*"), re.compile(r"\s*\S*\Z")
_HEADED = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)


def sources(record: FinishedRun) -> str:
    """Write a card for each source, each quote marked where it stands in the saved text."""
    cards = "\n".join(_card(record, source) for source in record.report.sources)
    return f"<h2>Sources</h2>\n{cards}" if cards else ""


def _card(record: FinishedRun, source: ReportSource) -> str:
    text = record.source_text(source)
    quotes = "\n".join(
        f"<blockquote>{_excerpt(text, source, window)}</blockquote>"
        for window in _windows(text, source.quotes)
    )
    quotes += "".join(
        f"<blockquote>{_marked(source, quote)}</blockquote>"
        for quote in source.quotes
        if quote not in text
    )
    return (
        f'<section class="source" id="source-{source.n}">\n'
        f"<h3>[{source.n}] {_link(source)}</h3>\n"
        f'<p class="meta">{escape(source.url)}</p>\n'
        f'<p class="meta">{source_note(source, to_the_minute(source.fetched_at))} · '
        f"sha256 {source.sha256[:16]}…</p>\n{quotes}\n</section>"
    )


def _link(source: ReportSource) -> str:
    title = escape(source.title or source.url)
    if not source.url.startswith(("http://", "https://")):
        return title
    return f'<a href="{escape(source.url)}" rel="noopener noreferrer nofollow">{title}</a>'


def _windows(text: str, quotes: list[str]) -> list[tuple[int, int]]:
    """Cut the pieces of the saved text that show all quotes, those that overlap joined."""
    windows: list[tuple[int, int]] = []
    for at, quote in sorted((text.find(quote), quote) for quote in quotes if quote in text):
        start, end = _whole_words(text, at, at + len(quote))
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(end, windows[-1][1]))
        else:
            windows.append((start, end))
    return windows


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a quote's place by what is shown around it, to where words begin and end."""
    first, last = max(0, start - _AROUND), min(len(text), end + _AROUND)
    if first:
        first = start - len(_FIRST_WORD.sub("", text[first:start]))
    if last < len(text):
        last = end + len(_LAST_WORD.sub("", text[end:last]))
    return first, last


def _excerpt(text: str, source: ReportSource, window: tuple[int, int]) -> str:
    start, end = window
    parts = ["…" if start else ""]
    at = start
    for begin, quote in sorted((text.find(quote), quote) for quote in source.quotes):
        if at <= begin < end:
            parts += [_around(text[at:begin]), _marked(source, quote)]
            at = begin + len(quote)
    return "".join([*parts, _around(text[at:end]), "…" if end < len(text) else ""])


def _around(text: str) -> str:
    """What stands beside a quote, its headings as such; rules of tables are for parsers."""
    shown = (line for line in text.split("\n") if not is_rule(line))
    kept = escape("\n".join(line for line in shown if not line or line.strip("#")))
    return _HEADED.sub(r"<strong>\1</strong>", kept)


def _marked(source: ReportSource, quote: str) -> str:
    number = source.quotes.index(quote) + 1
    return f'<mark id="quote-{source.n}-{number}">{escape(quote)}</mark>'


_RESULT_CHARS = 4_000
_HEAD_CHARS = 200
_PICTURES = {".png": "png", ".jpg": "jpeg"}
_SHOWN = ("model.reply", "thought", "tool.result")


def steps(record: FinishedRun) -> str:
    """Write the timeline; empty where nothing was done."""
    places: dict[str, list[Event]] = {}
    for event in record.events:
        if event.type in _SHOWN:  # parts that run side by side tell of their steps in turns
            places.setdefault(_place(event), []).append(event)
    items = [_step(record, place, events) for place, events in places.items()]
    if not items:
        return ""
    return '<h2>Steps</h2>\n<ol class="timeline">\n' + "\n".join(items) + "\n</ol>"


def _place(event: Event) -> str:
    """Name the step that an event belongs to: the first two parts of its place."""
    return "/".join(event.place.split("/")[:2])


def _step(record: FinishedRun, place: str, events: list[Event]) -> str:
    passed = seconds_between(record.events[0].at, events[0].at)
    facts = [f"after {passed:.1f} s", *(_asked(e.data) for e in events if e.type == "model.reply")]
    done = [_block(record, event) for event in events if event.type != "model.reply"]
    blocks = "\n".join(done or ["<p>writes the answer</p>"])
    head = f'{escape(_title(place))} <span class="meta">{" · ".join(facts)}</span>'
    return f"<li><h3>{head}</h3>\n{blocks}</li>"


def _title(place: str) -> str:
    """Name a step for people: `0/3` is the third, `2/1` the first of part 2."""
    loop, _, step = place.partition("/")
    if not loop.isdigit():
        return loop.capitalize() or "Aside"
    name = f"Step {step}" if step.isdigit() else step.capitalize()
    return name if loop == MAIN else f"Part {loop} · {name.lower()}"


def _asked(data: dict[str, Any]) -> str:
    tokens = f"{data['input_tokens']:,} tokens read, {data['output_tokens']:,} written"
    return f"{tokens} in {data['ms'] / 1000:.1f} s"


def _block(record: FinishedRun, event: Event) -> str:
    data = event.data
    if event.type == "thought":
        head, said = '<span class="tool">thinks</span>', data["text"]
        return _folded(
            f'{head} <span class="beginning">{escape(_cut(said))}</span>', "", "", _pre(said)
        )
    result = json.dumps(data["data"], ensure_ascii=False, indent=1)
    body = _pre(f"{result}\n{data['web']}".strip()[:_RESULT_CHARS])
    body += "".join(_picture(record, event, *blob) for blob in data["blobs"].items())
    head = f'<span class="tool">{escape(data["name"])}</span>'
    failed = report_view.tool_error(data["data"])
    ended = f'<span class="meta">{data["ms"]:,} ms</span>'
    if failed:
        ended = f'<span class="contradicted">failed: {escape(_cut(failed))}</span>'
    return _folded(head, report_view.parameter_text(data["param"], " · "), ended, body)


def _folded(head: str, what: str, ended: str, body: str) -> str:
    return f"<details><summary>{head} {escape(_cut(what))} {ended}</summary>\n{body}</details>"


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _HEAD_CHARS else f"{flat[:_HEAD_CHARS]}…"


def _pre(text: str) -> str:
    """Long ones scroll, so the keyboard must reach them."""
    return f'<pre tabindex="0">{escape(text)}</pre>'


def _picture(record: FinishedRun, event: Event, name: str, digest: str) -> str:
    kind = _PICTURES.get(name[name.rfind(".") :])
    if kind is None:
        return ""
    body = base64.b64encode(record.folder.blob(digest)).decode()
    alt = f"The page as it stood at {event.place}"
    return f'<img alt="{escape(alt)}" src="data:image/{kind};base64,{body}">'
