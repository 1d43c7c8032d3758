"""Rechecking an earlier report after its pages changed in typical ways."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import parse_qs, urlsplit

import pytest

from agent.errors import UsageError
from agent.export import export
from agent.export.report_view import no_longer_supported_sentences
from agent.export.verify_run import verify
from agent.journal.runs import Runs
from agent.run.audit import audit
from agent.run.recheck import recheck
from agent.run.record import RunRecord
from agent.run.replay import replay
from tests.loopback import Handler, serving

LIGHT = (
    "The tower is 31 metres high. Visitors may climb it in summer. The lamp burns paraffin."
    " Ida Holm was its last keeper."
)


class _Changing(Handler):
    """A site whose pages (title and HTML, a redirect or a status) a test replaces."""

    def get(self):
        parts = urlsplit(self.path)
        if parts.path == "/search":
            words = parse_qs(parts.query)["q"][0]
            hits = [
                {"title": title, "url": self.server.site.base + path, "content": ""}
                for path, title in self.server.site.found.items()
                if title in words
            ]
            return self._json({"results": hits})
        if parts.path == "/wayback/available":
            copy = {"available": True, "url": f"https://web.archive.org/{parts.query}"}
            return self._json({"archived_snapshots": {"closest": copy}})
        page = self.server.site.pages.get(parts.path, 404)
        if isinstance(page, int):
            return self.send(page, "text/html", b"<title>No page</title><p>Nothing to see.</p>")
        if page.startswith("/"):
            return self.send(301, "text/plain", b"", {"Location": self.server.site.base + page})
        return self.send(200, "text/html; charset=utf-8", page.encode())

    def _json(self, value):
        self.send(200, "application/json", json.dumps(value).encode())


class _Pages:
    def __init__(self, base):
        self.base, self.pages, self.found = base, {}, {}

    def put(self, path, text, *, title="The light", around=""):
        body = text if text.startswith("<") else f"<p>{text}</p>"
        self.pages[path] = f"<title>{title}</title>{around}<main><h1>{title}</h1>{body}</main>"


@pytest.fixture
def pages():
    with serving(_Changing, _Pages) as held:
        yield held


@pytest.fixture
def flags(pages, tmp_path):
    return {
        "allow_private": [pages.base.removeprefix("http://")],
        "data_dir": tmp_path / "data",
        "service": [f"{name}={pages.base}" for name in ("crossref", "doi", "archive")],
    }


@pytest.fixture
def reported_run(pages, flags, tmp_path):
    """Make a run that reports these sentences from a page; returns its report."""

    async def make(*claims, path="/light", **given):
        draft = tmp_path / "draft.md"
        cited = (f"{claim.rstrip('.')} ([page]({pages.base}{path}))." for claim in claims)
        draft.write_text("\n\n".join(cited))
        return await audit(draft, **flags, **given)

    return make


@pytest.fixture
def again(pages, flags):
    """Recheck a report; returns the new report."""

    async def check(name, **given):
        settings = {"model": "extractive", "search": ["searxng"], "searxng_url": pages.base}
        return await recheck(name, **{**settings, **flags, **given})

    return check


def recheck_states(report):
    return [(row.state, row.holds) for row in report.rechecked]


async def test_redesigned_page_with_same_words_still_stands(pages, reported_run, again):
    pages.put("/light", LIGHT)
    first = await reported_run("The tower is 31 metres high.", "Ida Holm was its last keeper.")
    pages.put(
        "/light",
        "<div><p>The tower is 31&nbsp;metres <b>high</b>.</p><h2>Keepers</h2>"
        "<p>“<i>Ida Holm</i> was its last keeper.”</p></div>",
        title="The light – Lights of the north",
        around="<nav><a href='/'>Home</a></nav>",
    )
    report = await again(first.run)
    assert recheck_states(report) == [("stands", True), ("stands", True)]
    assert report.standing == "supported"
    assert report.sources[0].fetched_at > first.sources[0].fetched_at


async def test_words_at_new_address_or_heading_moved(pages, reported_run, again):
    pages.put("/light", f"<h2>Today</h2><p>{LIGHT}</p><h2>Once</h2><p>It burned whale oil.</p>")
    first = await reported_run("The tower is 31 metres high.", "The lamp burns paraffin.")
    pages.put(
        "/new",
        "<h2>Today</h2><p>The tower is 31 metres high.</p>"
        "<h2>Once</h2><p>It burned whale oil. The lamp burns paraffin.</p>",
    )
    pages.pages["/light"] = pages.pages["/new"]
    under = (await again(first.run)).rechecked
    assert [(row.state, row.now) for row in under] == [
        ("stands", ""),
        ("moved", "The light › Once"),
    ]
    pages.pages["/light"] = "/new"
    at = (await again(first.run)).rechecked
    assert [(row.state, row.now) for row in at] == [("moved", f"{pages.base}/new")] * 2


async def test_words_of_deleted_page_are_searched_elsewhere(pages, reported_run, again, flags):
    pages.put("/light", LIGHT)
    first = await reported_run("The tower is 31 metres high.", "The lamp burns paraffin.")
    pages.pages["/light"] = 404
    pages.put("/copy", "The tower is 31 metres high.", title="Towers")
    pages.found["/copy"] = "The light"
    report = await again(first.run)
    moved, gone = report.rechecked
    assert (moved.state, moved.now) == ("moved", f"{pages.base}/copy")
    assert report.sources[moved.source - 1].quotes == ["The tower is 31 metres high."]
    assert (gone.state, gone.holds) == ("gone", False)
    assert gone.archived.startswith("https://web.archive.org/url=http")
    assert "timestamp=20" in gone.archived
    assert verify(Runs(flags["data_dir"]).find(report.run)).flaws == ()


async def test_changed_sentence_shows_old_and_new_and_removed_one_is_gone(
    pages, reported_run, again
):
    pages.put("/light", LIGHT)
    first = await reported_run("The lamp burns paraffin.", "Ida Holm was its last keeper.")
    pages.put(
        "/light",
        "The tower is 31 metres high. Visitors may climb it in summer. The lamp has burnt"
        " electricity for some years.",
    )
    changed, gone = (await again(first.run)).rechecked
    assert (changed.state, changed.holds) == ("changed", False)
    assert changed.old == "The lamp burns paraffin."
    assert changed.new == "The lamp has burnt electricity for some years."
    assert (gone.state, gone.new) == ("gone", "")


@pytest.mark.parametrize(
    ("claim", "now"),
    [
        ("The tower is 31 metres high.", "The tower is 33 metres high."),
        ("Visitors may climb it in summer.", "Visitors may no longer climb it in summer."),
        ("Ida Holm was its last keeper.", "Jon Ekdahl was its last keeper."),
    ],
)
async def test_changed_value_or_negation_contradicts(pages, reported_run, again, claim, now):
    pages.put("/light", LIGHT)
    first = await reported_run(claim)
    pages.put("/light", LIGHT.replace(claim, now))
    report = await again(first.run)
    [row] = report.rechecked
    assert (row.state, row.old, row.new) == ("contradicted", claim, now)
    assert (report.standing, no_longer_supported_sentences(report)) == ("contradicted", [row])


async def test_table_row_is_compared_by_cell(pages, reported_run, again):
    rows = "<tr><th>Ship</th><th>Cars</th></tr><tr><td>Heron</td><td>24</td></tr>{}"
    table = f"<p>Our ships.</p><table>{rows}</table>"
    pages.put("/light", table.format("<tr><td>Petrel</td><td>18</td></tr>"))
    first = await reported_run("Ship: Heron; Cars: 24", "Ship: Petrel; Cars: 18")
    pages.put("/light", table.format("<tr><td>Dunlin</td><td>42</td></tr>").replace("24", "28"))
    assert [row.state for row in (await again(first.run)).rechecked] == ["contradicted", "gone"]


async def test_unreadable_page_is_not_checked_rather_than_gone(pages, reported_run, again):
    pages.put("/light", LIGHT)
    first = await reported_run("The lamp burns paraffin.")
    pages.pages["/light"] = 503
    report = await again(first.run)
    assert recheck_states(report) == [("not_checked", None)]
    assert "could not be read" in report.rechecked[0].reason
    assert report.sources[0].sha256 == first.sources[0].sha256  # as it was saved then


async def test_judge_decides_whether_new_wording_supports_sentence(
    pages, reported_run, again, script
):
    pages.put("/light", LIGHT)
    first = await reported_run("The lamp burns paraffin.", "Visitors may climb it in summer.")
    now = "Paraffin has always fed the lamp. In summer the tower is closed to visitors."
    pages.put("/light", f"The tower is 31 metres high. {now} Ida Holm was its last keeper.")
    verdicts = '1 supported "Paraffin has always fed the lamp"\n'
    verdicts += '2 contradicted "In summer the tower is closed to visitors"'
    report = await again(first.run, model=script({"reply": verdicts, "for": "judge"}))
    assert recheck_states(report) == [("changed", True), ("contradicted", False)]
    assert report.rechecked[0].new == "Paraffin has always fed the lamp"


async def test_archive_and_saved_report_can_be_rechecked(
    pages, reported_run, again, flags, tmp_path
):
    pages.put("/light", LIGHT)
    first = await reported_run("The lamp burns paraffin.", "The tower is 31 metres high.")
    folder = Runs(flags["data_dir"]).find(first.run).path
    for name in ("run.zip", "report.json"):
        export(folder, tmp_path / name)
    pages.put("/light", LIGHT.replace("paraffin", "gas"))
    for name in ("run.zip", "report.json"):
        report = await again(tmp_path / name)
        assert [row.state for row in report.rechecked] == ["changed", "stands"], name
    (tmp_path / "other.json").write_text("{}")
    for name in ("other.json", "missing.json"):
        with pytest.raises(UsageError):
            await again(tmp_path / name)


async def test_exports_show_recheck_results_and_recheck_is_not_replayable(
    pages, reported_run, again, flags, tmp_path
):
    pages.put("/light", LIGHT)
    first = await reported_run("The lamp burns paraffin.")
    pages.put("/light", LIGHT.replace("paraffin", "gas"))
    report = await again(first.run)
    folder = Runs(flags["data_dir"]).find(report.run)
    for name in ("report.md", "report.html", "report.xml"):
        export(folder.path, tmp_path / name)
        shown = (tmp_path / name).read_text()
        assert "The lamp burns gas." in shown
        assert "changed" in shown
    with pytest.raises(UsageError, match="is a recheck"):
        await replay(RunRecord.read(folder))


async def test_report_without_supported_sentence_cannot_be_rechecked(pages, reported_run, again):
    pages.put("/light", LIGHT)
    first = await reported_run("The lamp is loved by all.")
    with pytest.raises(UsageError, match="nothing to recheck"):
        await again(first.run)


async def test_recheck_command_exits_8_when_sentence_no_longer_stands(
    pages, reported_run, run, tmp_path
):
    host = pages.base.removeprefix("http://")
    web = ("--allow-private", host, "--service", f"archive={pages.base}")
    engine = ("--search", "searxng", "--searxng-url", pages.base)
    pages.put("/light", LIGHT)
    first = (await reported_run("The lamp burns paraffin.")).run
    command = ("recheck", first, "--model", "extractive", *web, *engine)
    stands = await asyncio.to_thread(run, *command)
    pages.put("/light", LIGHT.replace("paraffin", "gas"))
    changed = await asyncio.to_thread(run, *command)
    pages.pages["/light"] = 503
    unread = await asyncio.to_thread(run, *command, "--json")
    codes = [done.returncode for done in (stands, changed, unread)]
    assert codes == [0, 8, 6], stands.stderr + changed.stderr
    assert "Still supported: 1 of 1 (stands: 1)." in stands.stdout
    assert "then: “The lamp burns paraffin.”" in changed.stdout
    assert json.loads(unread.stdout)["rechecked"][0]["state"] == "not_checked"
