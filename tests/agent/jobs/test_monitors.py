"""Monitors: thirty pages with changes or only noise, figures, answers and evidence."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from contextlib import contextmanager

import pytest
from lxml import etree

from agent.config import load_options
from agent.errors import UsageError
from agent.jobs.monitor_checks import condition_holds, page_with_refs
from agent.jobs.monitors import Monitors
from agent.jobs.page_diff import (
    Change,
    PageBlock,
    diff_blocks,
    first_number,
    learn_noise,
    read_blocks,
)
from agent.run.audit import audit
from tests.agent.jobs.changing_pages import CHANGES, PAGES, page, told
from tests.loopback import Handler, serving


def read(n: int, at: int, *, changed: bool = False) -> list[PageBlock]:
    return read_blocks(page(n, at, changed=changed).encode(), "text/html")


@pytest.mark.parametrize("n", range(0, PAGES, 5))
def test_noise_is_learned_from_three_reads_and_only_changes_reported(n):
    for page_number in range(n, n + 5):
        noise = learn_noise([read(page_number, at) for at in range(3)])
        before = read(page_number, 2)
        for at in (5, 19):
            assert diff_blocks(before, read(page_number, at), noise) == []
        found = diff_blocks(before, read(page_number, 7, changed=True), noise)
        if (words := told(page_number)) is None:
            assert found == []
            continue
        [change] = found
        assert words[0] in change.before
        assert words[1] in change.after
    assert len(CHANGES) == 12


def test_moved_blocks_are_no_change_and_blocks_are_selected_by_words_or_css():
    one, other = PageBlock("p", "One."), PageBlock("p", "Other.")
    assert diff_blocks([one, other], [other, one]) == []
    html = page(0, 0, changed=False).encode()
    assert [b.text for b in read_blocks(html, "text/html", css=".price")] == ["£48.50"]
    assert [b.text for b in read_blocks(html, "text/html", words="monday")] == [
        "Monday | 07:40 | 17:10"
    ]
    with pytest.raises(UsageError):
        read_blocks(html, "text/html", css="p[")


def shop_blocks(*items: str, price: str = "9 €") -> list[PageBlock]:
    shelf = [PageBlock("ul>li", item, "Others look at") for item in items]
    return [PageBlock("ul>li", f"Kettle, {price}, seen by {len(items[0])}", "Kettles"), *shelf]


def test_rotating_items_are_learned_as_noise():
    noise = learn_noise(
        [
            shop_blocks("Mug", "Tray", "Jug"),
            shop_blocks("Tray", "Mug", "Pan"),
            shop_blocks("Jug", "Mug"),
        ]
    )
    now = shop_blocks("Tray", "Spoon", "Jug", price="7 € now")
    [change] = diff_blocks(shop_blocks("Mug", "Tray", "Jug"), now, noise)
    assert change == Change("Kettle, 9 €, seen by 3", "Kettle, 7 € now, seen by 4", "Kettles")
    assert diff_blocks(shop_blocks("Jug", "Mug"), shop_blocks("Spoon", "Tray", "Jug"), noise) == []


@pytest.mark.parametrize(
    ("text", "figure"),
    [("£1,234.50 each", 1234.5), ("1.234,50 €", 1234.5), ("1,234", 1234), ("3.5 km", 3.5),
     ("−7 °C", -7), ("12 345,6", 12), ("12\u00a0345,6", 12345.6), ("none", None)],
)  # fmt: skip
def test_first_number_parses_common_formats(text, figure):
    assert first_number([PageBlock("p", "about"), PageBlock("p", text)]) == figure


def test_condition_compares_value_or_relative_change():
    assert condition_holds("<100", 120, 99)
    assert not condition_holds(">= 100", 120, 99)
    assert condition_holds("10%", 100, 89)
    assert not condition_holds("10%", 100, 95)


class ChangingPage(Handler):
    """A page that differs on each read."""

    def get(self) -> None:
        site = self.server.site
        site.reads += 1
        body = page(site.n, site.reads, changed=site.changed)
        self.send(200, "text/html", body.encode())


class ChangingSite:
    def __init__(self, url: str) -> None:
        self.url, self.n, self.reads, self.changed = url, 0, 0, False


@contextmanager
def serve_changing_site():
    with serving(ChangingPage, ChangingSite) as site:
        yield site


async def test_change_is_reported_as_diff_and_both_pages_are_stored(harness, tmp_path):
    feed = f"feed:{tmp_path}/news.xml"
    with serve_changing_site() as site:
        host = site.url.removeprefix("http://")
        flags = {"allow_private": (host,), "ignore_robots": True, "gap": 0.1}
        whole = Monitors(harness.jobs).add(f"{site.url}/", name="ferry", notify=(feed,), **flags)
        cheap = Monitors(harness.jobs).add(f"{site.url}/", css=".price", when="<45", **flags)
        async with harness.working(host_delay=0.0):
            seen = []
            for changed in (None, False, True, True):
                if changed is not None:
                    site.changed = changed
                    for one in (whole, cheap):
                        Monitors(harness.jobs).run(one.name)
                jobs = harness.jobs.list(["queued", "running"])
                seen.append(sorted(job.status for job in await harness.ended(*jobs)))
    assert seen == [["first"] * 2, ["same"] * 2, ["changed"] * 2, ["same"] * 2]
    [change] = Monitors(harness.jobs).changes("ferry")
    assert "- £48.50 In stock" in change.diff.replace("Day ticket ", "")
    assert "+ £39.90 In stock" in change.diff.replace("Day ticket ", "")
    assert [c.figure for c in Monitors(harness.jobs).changes(cheap.name)] == [39.9]
    for digest in (change.before_sha256, change.after_sha256):
        kept = (harness.jobs.data_dir / "monitors" / "ferry" / "blobs" / digest).read_bytes()
        assert hashlib.sha256(kept).hexdigest() == digest
    [entry] = etree.parse(f"{tmp_path}/news.xml").iterfind("{*}entry")
    assert entry.findtext("{*}title") == f"ferry changed: {site.url}/"
    assert entry.find("{*}link").get("href") == f"{site.url}/"
    Monitors(harness.jobs).remove("ferry")
    assert [m.name for m in Monitors(harness.jobs).all()] == [
        s.name for s in Monitors(harness.jobs).schedules.all()
    ]


async def test_list_shows_why_the_last_check_failed(harness, run):
    with serve_changing_site() as site:
        url = f"{site.url}/"  # closed at the end of this block, so that connections are refused
    monitors = Monitors(harness.jobs)
    flags = {"allow_private": (url.removeprefix("http://").strip("/"),), "ignore_robots": True}
    monitors.add(url, name="ferry", **flags)
    assert monitors.last_check("ferry") is None
    async with harness.working(host_delay=0.0):
        await harness.until(harness.jobs.list()[0], lambda _: monitors.last_check("ferry"))
    check = monitors.last_check("ferry")
    assert (check.state, check.error.startswith(f"{url} did not load: ")) == ("failed", True)
    monitors.add(url, name="ferry-2", **flags)
    data = {"RESEARCH_DATA_DIR": str(harness.jobs.data_dir)}
    shown = await asyncio.to_thread(run, "monitor", "list", **data)
    assert f"UTC, failed: {check.error}" in shown.stdout
    listed = await asyncio.to_thread(run, "monitor", "list", "--json", **data)
    first, second = json.loads(listed.stdout)
    assert (first["last_check"]["error"], second["last_check"]) == (check.error, None)


class Shop(Handler):
    def get(self) -> None:
        self.send(200, "text/html", self.server.site.body.encode())


class ShopSite:
    def __init__(self, url: str) -> None:
        self.url, self.body = url, self.shown("<button class=buy>Buy for 9 €</button>")

    def shown(self, button: str, *links: str) -> str:
        notes = "".join(f"<li><a href=/{one}>Notice {one}</a></li>" for one in (*links, "6"))
        head = f"<meta charset=utf-8><title>Shop</title><ul>{notes}</ul>"
        return f"{head}<main>{'Words. ' * 40}{button}</main>"


async def test_element_chosen_by_ref_is_monitored_until_removed(harness):
    with serving(Shop, ShopSite) as site:
        flags = {"allow_private": (site.url.removeprefix("http://"),), "ignore_robots": True}
        settings = load_options({**flags, "data_dir": harness.jobs.data_dir})
        text, _ = await page_with_refs(site.url, settings)
        refs = {name: re.search(rf"\[(e\d+)[^\]]*: {name}", text)[1] for name in ("Buy", "Notice")}
        for name, ref in refs.items():
            _, element = await page_with_refs(site.url, settings, ref)
            Monitors(harness.jobs).add(
                site.url, name=name, element=element, learn=2, gap=0.1, **flags
            )
        async with harness.working(host_delay=0.0, at_once=2):
            await harness.ended(*harness.jobs.list())
            for body in (site.shown("<button class=buy>Sold out</button>", "7"), site.shown("")):
                site.body = body
                await harness.ended(*(Monitors(harness.jobs).run(name) for name in refs))
    sold, gone = (change.diff for change in Monitors(harness.jobs).changes("Buy"))
    assert sold == "- Buy for 9 €\n+ Sold out"
    assert gone == "@ button Buy for 9 € is no longer on the page\n- Sold out"
    assert Monitors(harness.jobs).changes("Notice") == []  # it only moved down the list


async def test_answer_is_monitored_sentence_by_sentence(harness):
    said = ["The boat leaves at nine.\nIt is blue."]
    harness.decide_with = lambda: said[-1]
    name = Monitors(harness.jobs).add("When does it leave?", memory=False, **harness.model).name
    async with harness.working():
        await harness.ended(*harness.jobs.list())
        said.append("The boat leaves at ten.\nIt is blue.")
        await harness.ended(Monitors(harness.jobs).run(name))
    [change] = Monitors(harness.jobs).changes(name)
    assert "nine" in change.diff
    assert "ten" in change.diff
    assert "blue" not in change.diff


async def test_recheck_reports_outdated_sentence_once(harness, tmp_path):
    with serving(Shop, ShopSite) as site:
        text = "<title>Shop</title><main><h1>Shop</h1><p>A ticket costs {} euros. {}</p></main>"
        site.body = text.format(9, "It is valid for a day.")
        web = {"allow_private": (site.url.removeprefix("http://"),), "ignore_robots": True}
        draft = tmp_path / "draft.md"
        cited = f"([shop]({site.url}/))"
        draft.write_text(f"A ticket costs 9 euros {cited}. It is valid for a day {cited}.")
        first = await audit(draft, data_dir=harness.jobs.data_dir, **web)
        flags = {**web, "model": "extractive", "search": ("corpus",), "corpus": str(harness.corpus)}
        flags["service"] = (f"archive={site.url}",)
        name = Monitors(harness.jobs).add(first.run, kind="recheck", **flags).name
        seen = []
        async with harness.working(host_delay=0.0):
            seen += await harness.ended(*harness.jobs.list())
            for price in (12, 12):
                site.body = text.format(price, "It is valid for a day.")
                seen += await harness.ended(Monitors(harness.jobs).run(name))
    assert [job.status for job in seen] == ["same", "changed", "same"]
    [change] = Monitors(harness.jobs).changes(name)
    assert "now: “A ticket costs 12 euros.”" in change.diff
    assert "valid" not in change.diff
    assert change.run != first.run


def test_invalid_monitors_are_refused(harness):
    for bad in (
        {"target": "Who is it?", "css": "p"},
        {"target": "a.example/prices"},
        {"target": "http://a.example/", "css": "p["},
        {"target": "http://a.example/", "when": "cheap"},
        {"target": "http://a.example/", "every": "now and then"},
    ):
        with pytest.raises(UsageError):
            Monitors(harness.jobs).add(**bad)
    assert Monitors(harness.jobs).all() == []
    for broken in (Monitors(harness.jobs).remove, Monitors(harness.jobs).run):
        with pytest.raises(UsageError):
            broken("none")
