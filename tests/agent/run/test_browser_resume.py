"""The browser of a run that was cut off: taken up as it was left, its secrets in no record."""

from __future__ import annotations

import stat
import zipfile
from datetime import UTC, datetime

from agent.export import export
from agent.journal.runs import Runs
from agent.loop.subtasks import SavedPages
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.run.resume import resume
from agent.tools.context import Web
from browser import Browser
from fixtures.routes import PASSWORD, USER
from tests.loopback import Handler, serving


async def test_a_resumed_run_is_still_logged_in_and_old_refs_are_void(ask, script, site, tmp_path):
    model = script(
        f"<<TOOL:OPEN:{site.url}/login>>",
        f'<<TOOL:TYPE:{{"ref":"{{{{ref:textbox: Name}}}}","text":"{USER}"}}>>',
        f'<<TOOL:TYPE:{{"ref":"e13","text":"{PASSWORD}","submit":true}}>>',
        '<<TOOL:CLICK:{"ref":"e1"}>>',
        {"reply": "<<TOOL:SNAPSHOT>>", "expect": "earlier refs are invalid"},
        {"reply": "NOT_FOUND", "expect": "/friends-room"},
    )
    cut = await ask(model=model, max_steps=3)
    folder = Runs(tmp_path / "data").find(cut.run)
    assert cut.status == "partial"
    assert stat.S_IMODE(folder.browser_state.stat().st_mode) == 0o600

    done = await resume(RunRecord.read(folder), data_dir=tmp_path / "data", max_steps=9)
    assert done.status == "not_found", done.error
    assert not folder.browser_state.exists()
    assert (await replay(RunRecord.read(folder))).answer == done.answer


async def test_cookies_are_in_no_export(ask, script, site, tmp_path):
    model = script(
        f"<<TOOL:OPEN:{site.url}/login>>",
        f'<<TOOL:TYPE:{{"ref":"{{{{ref:textbox: Name}}}}","text":"{USER}"}}>>',
        f'<<TOOL:TYPE:{{"ref":"e13","text":"{PASSWORD}","submit":true}}>>',
        "NOT_FOUND",
    )
    before = set(site.sessions)
    cut = await ask(model=model, max_steps=3)
    folder = Runs(tmp_path / "data").find(cut.run)
    [cookie] = site.sessions - before
    assert cookie in folder.browser_state.read_text()
    export(folder.path, tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip") as packed:
        assert not any(cookie.encode() in packed.read(name) for name in packed.namelist())


SHOP = """<!doctype html><title>Shop</title><main><h1>Shop</h1><p id=told></p>
<button onclick="buy()">Buy a lamp</button></main><script>
const opened = new Promise((ok) => {
  const asked = indexedDB.open("shop", 2);
  asked.onupgradeneeded = () => asked.result.createObjectStore("basket", {keyPath: "id"});
  asked.onsuccess = () => ok(asked.result);
});
const basket = async (mode) => (await opened).transaction("basket", mode).objectStore("basket");
async function told() {
  const asked = (await basket("readonly")).getAll();
  asked.onsuccess = () => document.getElementById("told").textContent = "Step "
    + (sessionStorage.step ?? "one") + ". Basket: "
    + (asked.result.map((row) => row.what + " of " + row.since.getUTCFullYear()).join() || "empty");
}
async function buy() {
  sessionStorage.step = "two";
  (await basket("readwrite")).put({id: 1, what: "a lamp", since: new Date(0)}).onsuccess = told;
}
told();
</script>"""


class _Shop(Handler):
    def get(self):
        self.send(200, "text/html", SHOP.encode())


async def test_what_a_tab_and_a_database_held_is_there_again(ask, script, tmp_path):
    with serving(_Shop, str) as url:
        model = script(
            f"<<TOOL:OPEN:{url}/shop>>",
            '<<TOOL:CLICK:{"ref":"{{ref:Buy a lamp}}"}>>',
            "<<TOOL:SNAPSHOT>>",
            "<<TOOL:SNAPSHOT>>",
            {
                "reply": '<<TOOL:CLICK:{"ref":"{{ref:Buy a lamp}}"}>>',
                "expect": "Step two. Basket: a lamp of 1970",
            },
            {"reply": "NOT_FOUND", "expect": "clicked"},  # its logins are still not the person's
        )
        own = url.removeprefix("http://")
        cut = await ask(model=model, max_steps=2, allow_private=[own])
        folder = Runs(tmp_path / "data").find(cut.run)
        assert cut.status == "partial"

        data = tmp_path / "data"
        again = await resume(RunRecord.read(folder), data_dir=data, max_steps=3)
        assert again.status == "partial", again.error
        done = await resume(RunRecord.read(folder), data_dir=data, max_steps=9)
        assert done.status == "not_found", done.error
        assert not folder.browser_state.exists()


async def test_session_storage_is_given_to_its_own_site_and_tab_alone(site):
    async with Browser.launch() as browser:
        first = await browser.open(f"{site.url}/museum", session=[{"name": "step", "value": "two"}])
        other = await browser.open(f"{site.url}/museum")
        asked = "sessionStorage.getItem('step')"
        assert await first.page.evaluate(asked) == "two"
        assert await other.page.evaluate(asked) is None
        await first.page.evaluate("sessionStorage.clear()")
        await first.page.reload()
        assert await first.page.evaluate(asked) is None


async def test_local_storage_is_there_again(site, tmp_path):
    folder = Runs(tmp_path).create(datetime.now(UTC))
    said = []
    left = SavedPages(folder, lambda kind, place, **data: said.append((kind, place, data)))
    async with Browser.launch() as browser:
        tab = await browser.open(f"{site.url}/museum")
        await tab.page.evaluate("localStorage.setItem('basket', 'two lamps')")
        web = Web(None, None, None, None, None, tab=tab)
        await left.save(web, "0/1/1")
        await left.save(web, "0/2/1")
    assert said == [("page.open", "0/1/1", {"url": f"{site.url}/museum"})]
    async with Browser.launch(storage_state=folder.browser_state) as browser:
        tab = await browser.open(f"{site.url}/museum")
        assert await tab.page.evaluate("localStorage.getItem('basket')") == "two lamps"
