"""Renders a run as one HTML file, with light, dark and print styles.

The file has no scripts and makes no remote requests.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from functools import cache, partial
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from agent.evidence.passages import is_table_rule
from agent.export import report_view
from agent.export.finished_run import FinishedRun, seconds_between, to_the_minute
from agent.export.markup import answer_html, cite, inline
from agent.journal.events import MAIN
from agent.types import format_usd
from browser.text.words import clean, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from agent.journal.events import Event
    from agent.options import Surface
    from agent.types import ReportSource

_SOURCES_ABOVE_ANSWER: Final = 6
"""Number of sources shown above an answer; all are listed below it."""
_CONTEXT_CHARS: Final = 320
"""Characters of the saved text shown before and after a quote."""
_RESULT_CHARS: Final = 4_000  # maximum length of a tool result in a step
_SUMMARY_CHARS: Final = 200  # maximum length of a summary line
_PICTURES: Final = {".png": "png", ".jpg": "jpeg"}
_HEADING = re.compile(r"<h2>(.*?)</h2>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_FIRST_WORD, _LAST_WORD = re.compile(r"\A\S*\s*"), re.compile(r"\s*\S*\Z")
_MARKDOWN_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)


def render_html(folder: Path) -> bytes:
    """Render the run as one HTML file."""
    record = FinishedRun.read(folder)
    report, usage = record.report, record.report.usage
    footer = {  # for finding and verifying the run
        "run": report.run,
        "asked": to_the_minute(record.events[0].at),
        "model": usage.model or "none",
        "model calls": f"{usage.model_calls:,}",
        "tokens": f"{usage.input_tokens:,} in, {usage.output_tokens:,} out",
        "cost": format_usd(usage.usd) or "none",
        "journal head (last hash)": record.events[-1].hash,
    }
    return whole_page(report.question, report_body(record), footer)


def whole_page(title: str, body: str, footer: Mapping[str, str] | None = None) -> bytes:
    """Wrap a body of safe HTML in a page styled like a report."""
    page = _templates().get_template("page.html")
    style = resources.files("agent.export").joinpath("report.css").read_text(encoding="utf-8")
    parts = {"style": Markup(style), "body": Markup(body)}  # noqa: S704 - both are ours
    return clean(page.render(title=title, footer=footer, **parts)).encode("utf-8", "replace")


def render_page(template: str, title: str, **values: object) -> bytes:
    """Render a page from its body template."""
    return whole_page(title, _templates().get_template(template).render(title=title, **values))


def report_body(record: FinishedRun, surface: Surface = "shell") -> str:
    """Render all parts of a report, with a table of contents."""
    report = record.report
    facts = [
        *report_view.confidence_facts(report),
        *report_view.run_facts(report, space="\N{NO-BREAK SPACE}"),
    ]
    unsupported = report_view.other_unsupported(report)
    about_search = [s for s in report.sentences if s.about_search and not report.closest]
    body = (
        _templates()
        .get_template("report.html")
        .render(
            report=report,
            view=report_view,
            surface=surface,
            facts=[fact for fact in facts if fact],
            warning=report_view.doubt_line(report),
            answer=answer_html(report),
            unsupported=unsupported + about_search,
            supported=[s for s in report.sentences if s.holds],
            reference_rows=map(report_view.reference_cells, report.references),
            known={source.n for source in report.sources},
            cite=partial(cite, report),
            excerpts=lambda source: excerpts(record.source_text(source), source),
            steps=_steps(record),
            pictures=partial(_pictures, record),
        )
    )
    return _with_contents(body)


def page_templates(package: str) -> Environment:
    """Return the HTML templates in the `templates` folder of a package."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _templates() -> Environment:
    templates = page_templates("agent.export")
    templates.globals.update(
        SOURCES_ABOVE_ANSWER=_SOURCES_ABOVE_ANSWER,
        inline=inline,
        minute=to_the_minute,
        json=partial(json.dumps, ensure_ascii=False),
        site=lambda source: urlsplit(source.url).netloc or source.via,
        cut=partial(shorten, length=_SUMMARY_CHARS),
        result=_result,
    )
    return templates


def _with_contents(body: str) -> str:
    """Give the headings ids, and insert a table of contents before the first one."""
    titles: list[str] = []

    def add_id(match: re.Match[str]) -> str:
        titles.append(_TAG.sub("", match[1]).rstrip(":"))
        return f'<h2 id="part-{len(titles)}">{match[1]}</h2>'

    body = _HEADING.sub(add_id, body)
    if not titles:
        return body
    rows = (f'<li><a href="#part-{n}">{title}</a></li>' for n, title in enumerate(titles, 1))
    nav = f'<nav class="contents" aria-label="Contents"><ol>{"".join(rows)}</ol></nav>\n'
    # Before the answer or the first heading, so that keyboard users reach it first.
    places = [body.find(part) for part in ('<div class="answer">', "<h2 ")]
    at = min(place for place in places if place >= 0)
    return f"{body[:at]}{nav}{body[at:]}"


def excerpts(text: str, source: ReportSource) -> Iterator[Markup]:
    """Yield excerpts of a source's saved text that contain its quotes; overlapping ones are merged.

    Quotes are marked; a quote that is not in the text is shown separately.
    """
    # Reversed, so that a quote listed twice gets the id of its first position, which markers link
    # to.
    marks = {
        quote: f'<mark id="quote-{source.n}-{number}">{escape(quote)}</mark>'
        for number, quote in reversed([*enumerate(source.quotes, 1)])
    }
    places = sorted((text.find(quote), quote) for quote in source.quotes if quote in text)
    windows: list[tuple[int, int]] = []
    for at, quote in places:
        start, end = _window(text, at, at + len(quote))
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(end, windows[-1][1]))
        else:
            windows.append((start, end))
    for start, end in windows:
        parts, at = ["…" if start else ""], start
        for begin, quote in places:
            if at <= begin < end:
                parts += [_format_context(text[at:begin]), marks[quote]]
                at = begin + len(quote)
        parts += [_format_context(text[at:end]), "…" if end < len(text) else ""]
        yield Markup("".join(parts))  # noqa: S704 - escaped piece by piece
    for quote in source.quotes:
        if quote not in text:
            yield Markup(marks[quote])  # noqa: S704 - as above


def _window(text: str, start: int, end: int) -> tuple[int, int]:
    """Extend a quote's span by the context to show, up to word boundaries."""
    first, last = max(0, start - _CONTEXT_CHARS), min(len(text), end + _CONTEXT_CHARS)
    if first:
        first = start - len(_FIRST_WORD.sub("", text[first:start]))
    if last < len(text):
        last = end + len(_LAST_WORD.sub("", text[end:last]))
    return first, last


def _format_context(text: str) -> str:
    """Format the text around a quote, with bold headings and no table rules or empty headings."""
    lines = [line for line in text.split("\n") if not is_table_rule(line)]
    escaped = escape("\n".join(line for line in lines if not line or line.strip("#")))
    return _MARKDOWN_HEADING.sub(r"<strong>\1</strong>", escaped)


@dataclass(slots=True)
class _Step:
    """A timeline step: its thoughts and tool results, with time and tokens in `facts`."""

    title: str
    facts: list[str]
    place: str
    events: list[Event] = field(default_factory=list)


def _steps(record: FinishedRun) -> list[_Step]:
    """Build the timeline; the steps of parallel loops are interleaved."""
    steps: dict[str, _Step] = {}
    for event in record.events:
        if event.type not in ("model.reply", "thought", "tool.result", "policy.approved"):
            continue
        place = "/".join(event.place.split("/")[:2])
        if place not in steps:
            passed = seconds_between(record.events[0].at, event.at)
            steps[place] = _Step(step_title(place), [f"after {passed:.1f} s"], place)
        if event.type == "model.reply":
            data = event.data
            tokens = f"{data['input_tokens']:,} tokens in, {data['output_tokens']:,} out"
            steps[place].facts.append(f"{tokens} in {data['ms'] / 1000:.1f} s")
        else:
            steps[place].events.append(event)
    return list(steps.values())


def step_title(place: str) -> str:
    """Name a step for readers: `0/3` is step 3, and `2/1` is step 1 of part 2."""
    loop, _, step = place.partition("/")
    if not loop.isdigit():
        return loop.capitalize() or "Aside"
    name = f"Step {step}" if step.isdigit() else step.capitalize()
    return name if loop == MAIN else f"Part {loop} · {name.lower()}"


def _result(event: Event) -> str:
    result = json.dumps(event.data["data"], ensure_ascii=False, indent=1)
    return f"{result}\n{event.data['web']}".strip()[:_RESULT_CHARS]


def _pictures(record: FinishedRun, event: Event) -> Iterator[tuple[str, str]]:
    """Yield the images in a tool result as (image type, base64)."""
    for name, digest in event.data["blobs"].items():
        kind = _PICTURES.get(name[name.rfind(".") :])
        if kind is not None:
            yield kind, base64.b64encode(record.folder.blob(digest)).decode()
