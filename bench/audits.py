"""Audits drafts with planted faults over a closed web; counts faults found and false accusations.

    python -m bench.audits FOLDER
    python -m bench.audits write FOLDER DRAFTS [--data FOLDER] [--address HOST:PORT]
    python -m bench.audits count FOLDER DRAFTS [--data FOLDER] [--model NAME]
        [--base-url URL] [-v]

FOLDER contains `serve.py`; the folder given by `--data` (default: FOLDER itself) contains
`docs.jsonl` and `questions.jsonl`. `write` creates ten drafts (Markdown, HTML, Word; links,
footnotes, numbered references) from sentences in the pages and from faults: a wrong figure, another
page cited, a dead link, an unsupported sentence; `truth.json` says which is which. `count` serves
the pages at the drafts' address, audits each draft as the command does, and prints how many faults
of each kind are found and which true sentences are called wrong. Exits with 8 if under 95 % are
found or any true sentence is called wrong. With only FOLDER, both steps run without a model, which
must find 24 of the 60 faults and call no true sentence wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from browser.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DRAFTS, TRUE_EACH = 10, 10
FAULTS_EACH = ("figure", "figure", "page", "page", "dead", "unstated")
"""Faults per draft; every other draft has one `page` fewer and one `unstated` more."""
MIN_FOUND_SHARE = 0.95
STEPS = ("write", "count")
_NUMBER = re.compile(r"(?<![\d.,:/])\d{1,4}(?![\d.,:/%]|\w)")
_UNSTATED = (
    ", a decision that its critics called hasty at the time",
    ", as a commission of inquiry confirmed ten years later",
    ", and a plaque now marks the occasion",
    ", although three witnesses remembered it differently",
    ", which cost its sponsors far more than they had planned",
)


class Line(NamedTuple):
    """A sentence in a draft, the address it cites, and its fault (empty if it is true)."""

    text: str
    url: str
    title: str
    fault: str


def main() -> int:
    """Write the drafts, or count what an audit finds in them."""
    options = _options()
    if options.step not in STEPS:
        with tempfile.TemporaryDirectory() as drafts:
            told = [options.step, drafts]
            written = main_of(_parser().parse_args(["write", *told]))
            return written or main_of(_parser().parse_args(["count", *told, "--least", "0.4"]))
    return main_of(options)


def main_of(options: argparse.Namespace) -> int:
    """Run one step."""
    data = options.data or options.folder
    if options.step == "write":
        write(data, options.drafts, options.address)
        return 0
    truth = json.loads((options.drafts / "truth.json").read_text("utf-8"))
    command = [sys.executable, str(options.folder / "serve.py"), "--data", str(data)]
    command += ["--port", truth["address"].rpartition(":")[2]]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            server.stdout.readline()
            return asyncio.run(count(options, truth))
        finally:
            server.terminate()


def write(data: Path, folder: Path, address: str) -> None:
    """Write the drafts and their ground truth."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(18)
    facts = list(_facts(data))
    chance.shuffle(facts)
    pages = {d["id"]: d for d in map(json.loads, (data / "docs.jsonl").open(encoding="utf-8"))}
    truth: dict[str, Any] = {"address": address, "drafts": {}}
    for number in range(DRAFTS):
        faults = list(FAULTS_EACH)
        if number % 2:
            faults[3] = "unstated"
        faults += [""] * TRUE_EACH
        chance.shuffle(faults)
        lines = [_line(facts, fault, pages, address, chance) for fault in faults]
        name = _WRITERS[number % len(_WRITERS)](folder, number + 1, lines)
        truth["drafts"][name] = [line._asdict() for line in lines]
    (folder / "truth.json").write_text(json.dumps(truth, indent=1), encoding="utf-8")


def _facts(data: Path) -> Iterator[tuple[str, str]]:
    """Yield sentences that appear literally on a page, each once, with the page's id.

    These are the sentences that questions depend on, and the first one on every page that questions
    are about.
    """
    questions = map(json.loads, (data / "questions.jsonl").open(encoding="utf-8"))
    rows = [(row["text"], row["doc"]) for one in questions for row in one["evidence"]]
    for page in map(json.loads, (data / "docs.jsonl").open(encoding="utf-8")):
        if page["gold"]:
            first = sentences(page["text"])[0]
            rows.append((page["text"][first.start : first.end], page["id"]))
    seen = set()
    for found, doc in rows:
        text = " ".join(found.split())
        if text not in seen and 8 <= len(text.split()) <= 45 and text.endswith("."):
            seen.add(text)
            yield text, doc


def _line(
    facts: list[tuple[str, str]],
    fault: str,
    pages: dict[str, Any],
    address: str,
    chance: random.Random,
) -> Line:
    """Take the first suitable sentence from the facts and plant the fault in it."""
    for place, (said, doc) in enumerate(facts):
        text, page = said, doc
        if fault == "figure":
            match = _NUMBER.search(text)
            wrong = str(int(match[0]) + chance.choice((2, 3, 11))) if match else ""
            if not match or re.search(rf"\b{wrong}\b", pages[doc]["text"]):
                continue
            text = text[: match.start()] + wrong + text[match.end() :]
        elif fault == "page":
            page = chance.choice(sorted(pages))
            if text in pages[page]["text"]:
                continue
        elif fault == "dead":
            page = f"{doc}-{chance.randrange(1000, 9999)}"
        elif fault == "unstated":
            text = text.removesuffix(".") + chance.choice(_UNSTATED) + "."
        else:
            text = _reword(text, chance)
        del facts[place]
        url = f"http://{address}/wiki/{page}.html"
        return Line(text, url, pages[page if page in pages else doc]["title"], fault)
    raise SystemExit("there are too few sentences for so many drafts")


def _reword(text: str, chance: random.Random) -> str:
    """Reword a true sentence as authors do: unchanged, retyped, shortened, or reported."""
    match chance.randrange(5):
        case 0:
            return text.replace("'", "’").replace(" - ", " – ")
        case 1:
            shorter = re.sub(r" \([^()]*\)", "", text)
            return shorter if len(shorter.split()) > 6 else text
        case 2:
            head = text.partition("; ")[0].removesuffix(".")
            return f"{head}." if len(head.split()) > 6 else text
        case 3:
            first = text[0].lower() if text.startswith("The ") else text[0]
            return f"According to the sources, {first}{text[1:]}"
    return text


def _paragraphs(lines: Sequence[Line]) -> list[Sequence[Line]]:
    return [lines[n : n + 4] for n in range(0, len(lines), 4)]


def _linked(folder: Path, number: int, lines: Sequence[Line]) -> str:
    """Format Markdown with a link after each sentence."""
    body = "\n\n".join(
        " ".join(f"{line.text.removesuffix('.')} ([{line.title}]({line.url}))." for line in some)
        for some in _paragraphs(lines)
    )
    return _kept(folder / f"draft{number:02d}.md", f"# Notes\n\n{body}\n")


def _footnoted(folder: Path, number: int, lines: Sequence[Line]) -> str:
    """Format Markdown with footnotes defined at the end."""
    body = "\n\n".join(
        " ".join(f"{line.text}[^{lines.index(line) + 1}]" for line in some)
        for some in _paragraphs(lines)
    )
    notes = "\n".join(f"[^{n}]: {line.title}, {line.url}" for n, line in enumerate(lines, 1))
    return _kept(folder / f"draft{number:02d}.md", f"# Notes\n\n{body}\n\n{notes}\n")


def _numbered(folder: Path, number: int, lines: Sequence[Line]) -> str:
    """Format HTML with bracketed numbers and a reference list."""
    body = "".join(
        "<p>"
        + " ".join(f"{escape(x.text.removesuffix('.'))} [{lines.index(x) + 1}]." for x in some)
        for some in _paragraphs(lines)
    )
    rows = "".join(
        f'<li>{escape(line.title)}. <a href="{line.url}">{line.url}</a></li>' for line in lines
    )
    return _page(folder, number, f"{body}<h2>References</h2><ol>{rows}</ol>")


def _linked_html(folder: Path, number: int, lines: Sequence[Line]) -> str:
    """Format HTML in which words in the sentences are links."""
    cut = ((line, *line.text.split(" ", 1)) for line in lines)
    linked = [f'<a href="{x.url}">{escape(word)}</a> {escape(rest)}' for x, word, rest in cut]
    return _page(folder, number, f"<p>{'<p>'.join(linked)}")


def _page(folder: Path, number: int, body: str) -> str:
    page = f"<!doctype html><title>Notes</title><main><h1>Notes</h1>{body}</main>"
    return _kept(folder / f"draft{number:02d}.html", page)


def _word(folder: Path, number: int, lines: Sequence[Line]) -> str:
    """Write a Word file with bracketed numbers and a reference list."""
    from docx import Document

    document = Document()
    document.add_heading("Notes", 1)
    for some in _paragraphs(lines):
        document.add_paragraph(" ".join(f"{x.text} [{lines.index(x) + 1}]" for x in some))
    document.add_heading("References", 1)
    for n, line in enumerate(lines, 1):
        document.add_paragraph(f"[{n}] {line.title}. {line.url}")
    path = folder / f"draft{number:02d}.docx"
    document.save(str(path))
    return path.name


_WRITERS = (_linked, _footnoted, _numbered, _linked_html, _word)


def _kept(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return path.name


async def count(options: argparse.Namespace, truth: dict[str, Any]) -> int:
    """Audit each draft; print faults found by kind, and true sentences that are called wrong."""
    from agent.export.report_view import faults
    from agent.run.audit import audit

    found, planted, accused, unread = Counter[str](), Counter[str](), [], 0
    with tempfile.TemporaryDirectory() as data:
        for name, lines in truth["drafts"].items():
            report = await audit(
                options.drafts / name,
                model=options.model,
                base_url=options.base_url,
                allow_private=[truth["address"]],
                service=[f"archive=http://{truth['address']}"],
                data_dir=Path(data),
            )
            wrong = faults(report)
            for line in (Line(**row) for row in lines):
                told = next((why for text, why in wrong if _same(text, line)), "")
                planted[line.fault or "true"] += 1
                if line.fault:
                    found[line.fault] += bool(told)
                elif told:
                    accused.append((name, line.text, told))
                else:
                    unread += not any(_same(s.text, line) for s in report.sentences)
                if options.verbose and bool(told) != bool(line.fault):
                    state = next((s for s in report.sentences if _same(s.text, line)), None)
                    print(f"{name} {line.fault or 'true'}: {line.text}\n    {told or state}")
    kinds = [kind for kind in planted if kind != "true"]
    for kind in kinds:
        print(f"{kind:9} {found[kind]} of {planted[kind]}")
    share = sum(found.values()) / sum(planted[kind] for kind in kinds)
    print(f"found     {sum(found.values())} of {sum(planted[kind] for kind in kinds)}, {share:.0%}")
    print(f"true      {len(accused)} of {planted['true']} called wrong, {unread} not seen")
    return 0 if share >= options.least and not accused else 8


def _same(text: str, line: Line) -> bool:
    """Whether what an audit names is a line's sentence or the address it cites."""
    told, own = (" ".join(re.findall(r"\w+", one)) for one in (text, line.text))
    return text == line.url or (len(told) > 20 and told in own)


def _options() -> argparse.Namespace:
    if len(sys.argv) == 2 and sys.argv[1] not in ("-h", "--help"):
        return argparse.Namespace(step=sys.argv[1])
    return _parser().parse_args()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("drafts", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--address", default="127.0.0.1:8731")
    parser.add_argument("--model")
    parser.add_argument("--base-url")
    parser.add_argument(
        "--least", type=float, default=MIN_FOUND_SHARE, help="Minimum share of faults to find."
    )
    parser.add_argument("-v", "--verbose", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
