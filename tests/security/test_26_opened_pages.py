"""Row 26: what robots.txt forbids is no more opened in our browser than read over HTTP."""

from __future__ import annotations

import pytest

from tests.loopback import Handler, serving


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
async def test_row26_what_is_forbidden_is_not_asked_for(ask, script, events, tool):
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
