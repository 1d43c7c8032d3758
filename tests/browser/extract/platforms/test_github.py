"""GitHub: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from tests.browser.extract.platforms.reading import parsed


def test_github_issue() -> None:
    page = """<link rel=canonical href="https://github.com/o/r/issues/5"><bdi data-testid=issue-title>Leak</bdi><span data-testid=header-state>Closed</span>
    <div data-testid=issue-body><a data-testid=issue-body-header-author href=/ann>ann</a><relative-time datetime="2024-05-03T08:00:00Z"></relative-time><div class=markdown-body><p>It leaks.</p></div></div>
    <div data-testid="comment-viewer-outer-box-X" id=issuecomment-6><a data-testid=avatar-link>bo</a><relative-time datetime="2024-05-04T08:00:00Z"></relative-time><div class=markdown-body>Fixed.</div></div>
    <div data-testid=issue-labels><a>bug</a></div>"""
    issue = parsed("https://github.com/o/r/issues/5", page)
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


def test_github_repository() -> None:
    page = """<meta name=octolytics-dimension-repository_nwo content=o/r><span id=repo-stars-counter-star title="1,234">1.2k</span>
    <span id=repo-network-counter>56</span><div class=BorderGrid-cell><p class=f4>A tool.</p></div><a class=topic-tag>boats</a>
    <article class=markdown-body><h1>r</h1><p>Read me.</p></article>"""
    repository = parsed("https://github.com/o/r", page)
    assert (repository.kind, repository.id, repository.text) == (
        "repository",
        "o/r",
        "# r\n\nRead me.",
    )
    assert repository.counts == {"stars": 1234, "forks": 56}
    assert repository.fields == {"description": "A tool."}
    assert repository.tags == ("boats",)
