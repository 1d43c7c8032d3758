"""GitHub: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.browser.extract.platforms.reading import parse_record


def test_issue_page_yields_body_comments_and_labels() -> None:
    page = """<link rel=canonical href="https://github.com/o/r/issues/5"><bdi data-testid=issue-title>Leak</bdi><span data-testid=header-state>Closed</span>
    <div data-testid=issue-body><a data-testid=issue-body-header-author href=/ann>ann</a><relative-time datetime="2024-05-03T08:00:00Z"></relative-time><div class=markdown-body><p>It leaks.</p></div></div>
    <div data-testid="comment-viewer-outer-box-X" id=issuecomment-6><a data-testid=avatar-link>bo</a><relative-time datetime="2024-05-04T08:00:00Z"></relative-time><div class=markdown-body>Fixed.</div></div>
    <div data-testid=issue-labels><a>bug</a></div>"""
    issue = parse_record("https://github.com/o/r/issues/5", page)
    assert (issue.kind, issue.id, issue.title, issue.text, issue.author) == (
        "issue",
        "5",
        "Leak",
        "It leaks.",
        "ann",
    )
    assert issue.published == "2024-05-03T08:00:00+00:00"
    assert issue.fields == {"state": "closed", "repository": "o/r"}
    assert issue.tags == ("bug",)
    assert [(c.id, c.author, c.text) for c in issue.items] == [("issuecomment-6", "bo", "Fixed.")]


def test_repository_page_yields_readme_and_counts() -> None:
    page = """<meta name=octolytics-dimension-repository_nwo content=o/r><span id=repo-stars-counter-star title="1,234">1.2k</span>
    <span id=repo-network-counter>56</span><div class=BorderGrid-cell><p class=f4>A tool.</p></div><a class=topic-tag>boats</a>
    <article class=markdown-body><h1>r</h1><p>Read me.</p></article>"""
    repository = parse_record("https://github.com/o/r", page)
    assert (repository.kind, repository.id, repository.text) == (
        "repository",
        "o/r",
        "# r\n\nRead me.",
    )
    assert repository.counts == {"stars": 1234, "forks": 56}
    assert repository.fields == {"description": "A tool."}
    assert repository.tags == ("boats",)


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        ('<span class="State State--merged" title="Status: Merged">Merged</span>', "merged"),
        ('<span class="State" title="Status: Draft"><svg></svg> Draft</span>', "draft"),
        ("<span data-testid=header-state>Closed as not planned</span>", "closed as not planned"),
        ("<span data-testid=header-state>Open</span>", "open"),
    ],
)
def test_pull_request_state_is_parsed(shown: str, state: str) -> None:
    page = f"""{shown}<bdi class=js-issue-title>Mend the lock</bdi><span class="commit-ref base-ref">main</span><span class="commit-ref head-ref">ann:mend</span>
    <span id=commits_tab_counter>3</span><span id=files_tab_counter>12</span><span id=diffstat><span>+1,234</span> <span>−56</span></span>
    <div class=timeline-comment><a class=author>ann</a><relative-time datetime="2024-05-03T08:00:00Z"></relative-time><div class=comment-body><p>Mended.</p></div></div>
    <div class=timeline-comment id=issuecomment-2><a class=author>bo</a><div class=comment-body><p>Good.</p></div></div>"""
    pull = parse_record("https://github.com/o/r/pull/7", page)
    assert (pull.kind, pull.id, pull.title, pull.text) == (
        "pull_request",
        "7",
        "Mend the lock",
        "Mended.",
    )
    assert pull.fields == {"state": state, "repository": "o/r", "base": "main", "head": "ann:mend"}
    assert pull.counts == {"commits": 3, "files": 12, "additions": 1234, "deletions": 56}
    assert [(c.id, c.author, c.text) for c in pull.items] == [("issuecomment-2", "bo", "Good.")]


def _blob(blob: dict[str, Any]) -> str:
    state = json.dumps({"payload": {"blob": blob}})
    return f'<script type="application/json" data-target="react-app.embeddedData">{state}</script>'


def test_file_is_read_from_embedded_json_and_from_table_rows() -> None:
    blob = {"rawLines": ["a = 1", "", "b = 2"], "language": "Python", "headerInfo": {"blobSize": "13 Bytes", "lineInfo": {"truncatedLoc": "3"}}}  # fmt: skip
    file = parse_record("https://github.com/o/r/blob/main/src/a.py", _blob(blob))
    assert (file.kind, file.id, file.text) == ("file", "src/a.py", "a = 1\n\nb = 2")
    assert file.counts == {"lines": 3}
    assert file.fields == {
        "repository": "o/r",
        "branch": "main",
        "size": "13 Bytes",
        "language": "Python",
    }
    old = "<table><tr><td class=blob-num><td class=blob-code>a = 1</td></tr><tr><td class=blob-num><td class=blob-code>  b</td></tr></table>"
    assert parse_record("https://github.com/o/r/blob/main/a.py", old).text == "a = 1\n  b"


def test_lfs_image_and_rich_text_files_are_described() -> None:
    lfs = {"rawLines": None, "headerInfo": {"blobSize": "5 MB", "isGitLfs": True}}
    record = parse_record("https://github.com/o/r/blob/main/m.bin", _blob(lfs))
    assert (record.text, record.fields["lfs"], record.fields["size"]) == ("", "true", "5 MB")

    picture = {"image": True, "rawBlobUrl": "https://github.com/o/r/raw/main/p.png", "headerInfo": {"blobSize": "9 KB"}}  # fmt: skip
    record = parse_record("https://github.com/o/r/blob/main/p.png", _blob(picture))
    assert record.media == ("https://github.com/o/r/raw/main/p.png",)

    notes = {"richText": "<article><h1>Read me</h1><p>Words.</p></article>", "headerInfo": {}}
    record = parse_record("https://github.com/o/r/blob/main/README.md", _blob(notes))
    assert record.text == "# Read me\n\nWords."


def test_archived_fork_is_marked() -> None:
    page = """<meta name=octolytics-dimension-repository_nwo content=o/r><span class="text-small lh-condensed-ultra">forked from <a href=/p/r>p/r</a></span><div class="flash flash-warn">This repository was archived by the owner on May 3, 2024.</div>
    <article class=markdown-body><p>Read me.</p></article>"""
    repository = parse_record("https://github.com/o/r/tree/main", page)
    assert (repository.fields["archived"], repository.fields["forked_from"]) == ("true", "p/r")
