"""`research login`: a session is saved by name, encrypted, used, renewed and deleted."""

from __future__ import annotations

import json
import time

import pytest

from agent.config import load_options
from agent.errors import UsageError
from agent.guard.saved_logins import FOLDER, KEYS, SavedLogins
from agent.guard.secret_store import SecretStore
from agent.run.settings import logged_in_sites
from agent.run.web import open_web
from tests.loopback import Handler, Server, serving

TOKEN = "s3ssion-value-of-the-shop"
KEY = "JBSWY3DPEHPK3PXP"


def cookie(domain: str, value: str = TOKEN, **more: object) -> dict[str, object]:
    row = {"name": "sid", "value": value, "domain": domain, "path": "/", "expires": -1}
    return {**row, "httpOnly": True, "secure": False, "sameSite": "Lax", **more}


STATE = {
    "cookies": [cookie(".shop.example"), cookie("bank.example", "other")],
    "origins": [
        {"origin": "https://www.shop.example", "localStorage": [{"name": "a", "value": TOKEN}]},
        {"origin": "https://bank.example", "localStorage": [{"name": "b", "value": "other"}]},
    ],
}


def test_only_state_of_the_site_is_saved_and_encrypted(tmp_path):
    saved = SavedLogins(tmp_path)
    saved.put("shop", "https://www.shop.example/account", STATE)
    state = saved.state("shop")
    assert [one["domain"] for one in state["cookies"]] == [".shop.example"]
    assert [one["origin"] for one in state["origins"]] == ["https://www.shop.example"]
    files = [file for file in (tmp_path / FOLDER).iterdir() if file.is_file()]
    assert all(TOKEN.encode() not in file.read_bytes() for file in files)
    assert all(file.stat().st_mode & 0o077 == 0 for file in files)


def test_saved_login_needs_its_key_and_origin(tmp_path):
    saved = SavedLogins(tmp_path)
    saved.put("shop", "https://www.shop.example", STATE)
    keys = tmp_path / FOLDER / KEYS
    rows = json.loads(keys.read_text())
    keys.write_text(json.dumps({"shop": {**rows["shop"], "origin": "https://evil.example"}}))
    with pytest.raises(UsageError, match="cannot be decrypted with its key"):
        saved.state("shop")
    keys.unlink()
    with pytest.raises(UsageError, match="no saved login named 'shop'"):
        saved.state("shop")


def test_saved_login_is_expired_once_its_cookies_are(tmp_path):
    saved = SavedLogins(tmp_path)
    past = {"cookies": [cookie("shop.example", expires=time.time() - 99)], "origins": []}
    assert saved.put("old", "https://shop.example", past).expired
    assert not saved.put("shop", "https://www.shop.example", STATE).expired


def test_login_command_saves_lists_and_deletes_logins(run, tmp_path):
    file = tmp_path / "state.json"
    file.write_text(json.dumps(STATE))
    done = run("login", "shop", "https://www.shop.example", "--from", str(file))
    assert "saved the login shop for https://www.shop.example" in done.stdout
    assert "shop  https://www.shop.example  saved on 20" in run("login", "list").stdout
    assert run("login", "rm", "shop").stdout.strip() == "deleted shop"
    assert run("login", "rm", "shop").returncode == 2
    assert run("login", "shop").returncode == 2


def test_login_is_refused_if_site_stored_no_session(run, tmp_path):
    file = tmp_path / "state.json"
    file.write_text(json.dumps(STATE))
    done = run("login", "news", "https://news.example", "--from", str(file))
    assert done.returncode == 2
    assert "did not store a session" in done.stderr


class Account:
    """A site that recognises its user by a cookie, and sets a new one on each visit."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.valid = {TOKEN}

    def page(self, sent: str) -> tuple[str, str]:
        if not any(f"sid={value}" in sent for value in self.valid):
            form = "<form><input name=user><input type=password name=p><button>Log in</button>"
            return f"<title>Log in</title><h1>Log in</h1>{form}</form>", ""
        fresh = f"visit-{len(self.valid)}"
        self.valid = {fresh}
        return "<title>Orders</title><main><h1>Orders</h1><p>Order 117: a lamp.</p></main>", fresh


class Visit(Handler):
    server: Server[Account]

    def get(self) -> None:
        html, fresh = self.server.site.page(self.headers["Cookie"] or "")
        headers = {"Set-Cookie": f"sid={fresh}; Path=/; HttpOnly"} if fresh else {}
        self.send(200, "text/html", html.encode(), headers)


async def test_run_uses_and_renews_saved_login_and_reports_expiry(tmp_path):
    with serving(Visit, Account) as account:
        url = f"{account.url}/"
        SavedLogins(tmp_path).put("shop", url, {"cookies": [cookie("127.0.0.1")], "origins": []})
        settings = {"data_dir": tmp_path, "login": "shop", "allow_private": "127.0.0.1"}
        options = load_options(settings)
        assert logged_in_sites(options) == {"127.0.0.1"}
        for _ in range(2):  # the second time with the cookie that the first one was given
            async with open_web(options, {}) as web:
                tab = await (await web.start_browser()).open(url)
                assert "Order 117" in (await tab.snapshot()).text
        account.valid = {"nothing any more"}
        async with open_web(options, {}) as web:
            web.tab = await (await web.start_browser()).open(url)
            said = web.expired_login(await web.read_tab())
    assert said.startswith("the saved login shop has expired")
    assert "research login shop http://127.0.0.1" in said


def test_totp_secret_yields_current_code_not_key(tmp_path):
    store = SecretStore(tmp_path)
    store.put("code", "https://shop.example", KEY, totp=True)
    code = store.value("code", "https://shop.example/login")
    assert code
    assert len(code) == 6
    assert code.isdigit()
    assert store.value("code", "https://evil.example") is None
    address = f"otpauth://totp/Shop:ada?secret={KEY}&issuer=Shop&digits=8&period=60"
    store.put("longer", "https://shop.example", address, totp=True)
    assert len(store.value("longer", "https://shop.example") or "") == 8
    with pytest.raises(UsageError, match="not a key for one-time codes"):
        store.put("bad", "https://shop.example", "not a key!", totp=True)
