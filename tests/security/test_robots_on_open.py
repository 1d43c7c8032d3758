"""Pages that robots.txt disallows are opened or read only if the user named their address."""

from __future__ import annotations

import threading

import pytest

from agent.run.web import NamedAddresses
from tests.loopback import Handler, serving

pytestmark = pytest.mark.row(n=26)


class Pages(Handler):
    def get(self) -> None:
        self.server.site.append(self.path)
        if self.path == "/robots.txt":
            self.send(200, "text/plain", b"User-agent: *\nDisallow: /private\n")
        else:
            self.send(200, "text/html", b"<main><p>The lamp is green.</p></main>")


class Asked(list):
    def __init__(self, url: str) -> None:
        self.url = url


@pytest.mark.parametrize("tool", ["OPEN", "READ", "FETCH_URL"])
@pytest.mark.row(n=26)
async def test_page_disallowed_by_robots_is_not_requested(ask, script, events, tool):
    with serving(Pages, Asked) as site:
        report = await ask(
            model=script(
                f"<<TOOL:{tool}:{site.url}/private/lamp>>",
                f"<<TOOL:{tool}:{site.url}/lamp>>",
                "NOT_FOUND",
            ),
            allow_private=[site.url.removeprefix("http://")],
        )
    told = [e.data["data"] for e in events(report) if e.type == "tool.result"]
    assert "robots.txt does not allow" in told[0]["error"]
    assert "error" not in told[1]
    assert "/private/lamp" not in site
    assert "/lamp" in site


@pytest.mark.parametrize("tool", ["OPEN", "READ", "FETCH_URL"])
@pytest.mark.row(n=26)
async def test_user_named_url_is_read_and_robots_rule_reported(ask, script, events, tool):
    with serving(Pages, Asked) as site:
        named = f"{site.url}/private/lamp?no=7"
        report = await ask(
            f"Which colour has the lamp at <{named}>?",
            model=script(
                f"<<TOOL:{tool}:{named}>>", f"<<TOOL:{tool}:{site.url}/private/next>>", "NOT_FOUND"
            ),
            allow_private=[site.url.removeprefix("http://")],
        )
    told = [e.data["data"] for e in events(report) if e.type == "tool.result"]
    assert "error" not in told[0]
    assert "robots.txt does not allow" in str(told[0])
    assert "the user named this address" in str(told[0])
    assert "robots.txt does not allow" in told[1]["error"]  # found from there, not named
    assert "/private/lamp?no=7" in site
    assert "/private/next" not in site


class SlowRobots(Pages):
    """Sends robots.txt once the browser is starting."""

    def get(self) -> None:
        if self.path == "/robots.txt":
            self.server.site.starting.wait()
        super().get()


class AskedSlowly(Asked):
    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.starting = threading.Event()


@pytest.mark.parametrize(("path", "shown"), [("/lamp", True), ("/private/lamp", False)])
@pytest.mark.row(n=26)
async def test_browser_starts_while_robots_txt_is_fetched(ask, script, events, path, shown):
    with serving(SlowRobots, AskedSlowly) as site:

        def watch(context):
            start = context.web.start_browser

            async def started():
                site.starting.set()
                return await start()

            context.web.start_browser = started

        report = await ask(
            model=script(f"<<TOOL:OPEN:{site.url}{path}>>", "NOT_FOUND"),
            allow_private=[site.url.removeprefix("http://")],
            opened=watch,
        )
    [told] = [e.data["data"] for e in events(report) if e.type == "tool.result"]
    assert ("error" not in told, path in site) == (shown, shown)


@pytest.mark.parametrize(
    ("request_text", "url", "named"),
    [
        ("See https://a.test/x.", "https://a.test/x", True),
        ("(see: https://a.test/x)", "https://a.test/x#part", True),
        ("See https://a.test/x", "https://a.test/x/y", False),
        ("See https://a.test/x", "https://a.test/", False),
        ("What does a.test/x say?", "https://a.test/x", True),
        ("What does a.test say?", "http://a.test/", True),
        ("What does a.test say?", "https://b.test/", False),
        ("What is in the table?", "http://127.0.0.1:8080/", True),
        ("What is in the table?", "http://127.0.0.1:8080/table", False),
        ("What is in the table?", "http://127.0.0.1:9090/", False),
    ],
)
@pytest.mark.row(n=26)
def test_named_addresses_include_request_urls_and_private_host_roots(request_text, url, named):
    assert NamedAddresses(request_text, ["127.0.0.1:8080"]).include(url) is named
