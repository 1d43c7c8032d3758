"""An interrupted run's browser: resumed as it was left, with its secrets in no record."""

from __future__ import annotations

import stat
import zipfile
from datetime import UTC, datetime

from agent.config import load_options
from agent.export import export
from agent.guard.saved_logins import LoginsInUse, SavedLogins
from agent.journal.runs import Runs
from agent.loop.subtasks import SavedPages
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.run.resume import resume
from agent.run.web import open_web
from agent.tools.context import Web
from browser import Browser
from fixtures.routes import PASSWORD, USER
from tests.loopback import Handler, Server, serving


async def test_resumed_run_is_still_logged_in_and_old_refs_are_invalid(ask, script, site, tmp_path):
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


async def test_exports_contain_no_cookies(ask, script, site, tmp_path):
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


async def test_session_storage_and_indexeddb_are_restored(ask, script, tmp_path):
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
            {"reply": "NOT_FOUND", "expect": "clicked"},  # its logins are still not the user's
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


async def test_session_storage_is_restored_only_in_its_site_and_tab(site):
    async with Browser.launch() as browser:
        first = await browser.open(f"{site.url}/museum", session=[{"name": "step", "value": "two"}])
        other = await browser.open(f"{site.url}/museum")
        asked = "sessionStorage.getItem('step')"
        assert await first.page.evaluate(asked) == "two"
        assert await other.page.evaluate(asked) is None
        await first.page.evaluate("sessionStorage.clear()")
        await first.page.reload()
        assert await first.page.evaluate(asked) is None


async def test_local_storage_is_restored(site, tmp_path):
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


class _Account(Handler):
    """Recognises its user by a cookie, and sets a new one with each page."""

    server: Server[list[str]]

    def get(self):
        visits = self.server.site
        if f"sid={visits[-1]}" not in (self.headers["Cookie"] or ""):
            self.send(200, "text/html", b"<h1>Log in</h1>")
            return
        visits.append(f"s3cret-visit-{len(visits)}")
        body = b"<h1>Orders</h1><script>sessionStorage.key = localStorage.key = 's3cret'</script>"
        headers = {"Set-Cookie": f"sid={visits[-1]}; Path=/"}
        self.send(200, "text/html", body, headers)


async def test_saved_login_is_encrypted_during_run_and_survives_kill(site, tmp_path):
    visits = ["s3cret-visit-0"]
    cookie = {"name": "sid", "value": visits[0], "domain": "127.0.0.1", "path": "/", "expires": -1}
    cookie |= {"httpOnly": True, "secure": False, "sameSite": "Lax"}
    folder = Runs(tmp_path).create(datetime.now(UTC))
    with serving(_Account, lambda url: [url, *visits]) as served:
        url = served[0]
        SavedLogins(tmp_path).put("shop", url, {"cookies": [cookie], "origins": []})
        logins = LoginsInUse(tmp_path, ["shop"])
        left = SavedPages(folder, lambda *_, **__: None, None, logins)
        async with Browser.launch(storage_state=logins.state()) as browser:
            tab = await browser.open(f"{site.url.replace('127.0.0.1', 'localhost')}/museum")
            await tab.page.evaluate("localStorage.setItem('basket', 'two lamps')")
            await left.save(Web(None, None, None, None, None, tab=tab), "0/1/1")
            tab = await browser.open(url)
            await left.save(Web(None, None, None, None, None, tab=tab), "0/2/1")
        kept = folder.browser_state.read_text()
        assert "two lamps" in kept
        assert "s3cret" not in kept
        settings = {"data_dir": tmp_path, "login": "shop", "allow_private": "127.0.0.1"}
        options = load_options({**settings, "storage_state": folder.browser_state})
        async with open_web(options, {}) as web:
            tab = await (await web.start_browser()).open(url)
            assert "Orders" in (await tab.snapshot()).text
