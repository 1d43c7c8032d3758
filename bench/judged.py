"""Measures all layers of claim checking together, with a person or a model as the judge.

    python -m bench.judged ask  FOLDER CLAIMS [PAGES] [--every N]
    python -m bench.judged read FOLDER CLAIMS [PAGES] [--every N] [-v]

`ask` writes `system.txt` and, for each page, what the judge would be asked about the claims that
are not on the page literally, ten per request: `NAME-1.request.txt`. Put the replies beside them as
`NAME-1.reply.txt`; `read` counts. CLAIMS is a JSON Lines file: claims (claim, page, label, kind)
about PAGES (page, text, title?), as in `bench/paraphrases`, or pages with their claims
({"page": {"title", "text"}, "claims": [{claim, label, kind}]}). `--every N` takes every Nth claim.

A true claim counts as right if it is supported, a wrong one if it is not; false alarms (true claims
called contradicted) are counted separately, and -v prints every claim that was misjudged.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agent.evidence import Evidence, check_answer
from agent.loop.judge import find_undecided_claims, judge_request, judge_system, read_verdicts
from agent.types import Passage, Verdict, VerdictState
from bench.claims import GOOD, Tally, read, show
from browser.types import Document, Outcome, Page

if TYPE_CHECKING:
    from collections.abc import Sequence

URL = "https://page.example/"
AT_ONCE = 10
"""Claims per request, as in a long answer."""


class Case(NamedTuple):
    """Claims about one page, as the sentences of an answer that cites it."""

    name: str
    evidence: Evidence
    claims: list[dict[str, Any]]

    @property
    def answer(self) -> str:
        """The claims as an answer."""
        return "\n".join(f"- {one['claim']} [S1]" for one in self.claims)


def main() -> int:
    """Write the requests, or read the replies and print a table by kind."""
    options = _options()
    cases = load(options.claims, options.pages, options.every)
    if options.step == "ask":
        options.folder.mkdir(parents=True, exist_ok=True)
        (options.folder / "system.txt").write_text(judge_system(), encoding="utf-8")
        for case in cases:
            claims = find_undecided_claims(case.answer, case.evidence)
            request = judge_request(claims, case.evidence)
            if claims:
                (options.folder / f"{case.name}.request.txt").write_text(request, encoding="utf-8")
        return 0
    tallies: dict[str, Tally] = defaultdict(Tally)
    alarms = sum(count(case, options, tallies) for case in cases)
    show("with a judge", tallies, 0.0)
    print(f"false alarms: {alarms} true claims called contradicted")
    return 0


def load(claims: Path, pages: Path | None, every: int) -> list[Case]:
    """Read the claims in either form, grouped by page."""
    rows = read(claims)
    if pages is None:
        groups = [(f"page{n}", row["page"], row["claims"]) for n, row in enumerate(rows, 1)]
    else:
        of_page: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            of_page[row["page"]].append(row)
        groups = [(page["page"], page, of_page[page["page"]]) for page in read(pages)]
    return [
        Case(f"{name}-{start // AT_ONCE + 1}", _evidence(page), kept[start : start + AT_ONCE])
        for name, page, own in groups
        for kept in [own[::every]]
        for start in range(0, len(kept), AT_ONCE)
    ]


def count(case: Case, options: argparse.Namespace, tallies: dict[str, Tally]) -> int:
    """Count a group's verdicts; return the number of false alarms."""
    reply = options.folder / f"{case.name}.reply.txt"
    claims = find_undecided_claims(case.answer, case.evidence)
    said = reply.read_text(encoding="utf-8") if reply.exists() else ""
    verdicts, _ = read_verdicts(said, claims, case.evidence)

    def judge(claim: str, passages: Sequence[Passage]) -> Verdict | None:
        return verdicts.get((claim, " ".join(passage.id for passage in passages)))

    alarms = 0
    for claim in case.claims:
        answer = f"- {claim['claim']} [S1]"
        sentences = check_answer(answer, case.evidence, judge).sentences
        states = {sentence.verdict for sentence in sentences}
        state = states.pop() if len(states) == 1 else VerdictState.UNDECIDED
        good = claim["label"] in GOOD
        right = good == (state is VerdictState.SUPPORTED)
        alarms += good and state is VerdictState.CONTRADICTED
        tallies[claim["kind"]].states[state] += 1
        tallies[claim["kind"]].right += right
        if options.verbose and not right:
            print(json.dumps({"state": state.value, **claim}, ensure_ascii=False))
    return alarms


def _evidence(page: dict[str, Any]) -> Evidence:
    evidence = Evidence()
    document = Document(url=URL, title=page.get("title", ""), text=page["text"])
    evidence.add(Page(URL, URL, "http", Outcome.OK, datetime.now(UTC), document=document))
    return evidence


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("ask", "read"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("claims", type=Path)
    parser.add_argument("pages", type=Path, nargs="?")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("-v", "--verbose", action="store_true", help="print what went wrong")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
