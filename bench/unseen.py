"""Tries 50 actions of five kinds whose end is not seen; all must report *outcome unknown*.

    python -m bench.unseen [KIND…]

The real tools act on pages from a loopback server that answers too late. An action counts as
correct if it is tried once, its result says that the outcome is unknown and that it is not
repeated, and the next observation of the page says what was started.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import research
from agent.journal.events import read_events
from agent.journal.runs import Runs
from bench.shelf import Targets
from browser.page import driver

if TYPE_CHECKING:
    from collections.abc import Iterator

ACT_SECONDS = 2.0
"""Timeout for an action, instead of 10 s; the server answers after three times as long."""

Try = tuple[str, dict[str, str]]
"""The page's HTML and the call: tool, ref and further fields."""


def click(body: str, ref: str = "Keep it", tool: str = "CLICK", **fields: str) -> Try:
    return body, {"tool": tool, "ref": ref, **fields}


def form(action: str, inner: str = "<button>Keep it</button>", how: str = "method=post") -> str:
    return f"<form action={action} {how}>{inner}</form>"


def button(script: str, label: str = "Keep it") -> str:
    return f'<button onclick="{script}">{label}</button>'


FIELD = "<input aria-label=Title value=tide>"
WORD = "<input type=password aria-label=Word>"
SECRET = f"<input aria-label=Name value=ada>{WORD}"
POST = "fetch('/slow', {method: 'POST'})"
TRIES: dict[str, list[Try]] = {
    "slow save": [
        click(button(POST)),
        click(button(f"{POST}.then(() => {{ document.title = 'Saved' }})")),
        click(button("let x = new XMLHttpRequest(); x.open('PUT', '/slow'); x.send()")),
        click(button(f"this.disabled = true; this.textContent = 'Saving'; {POST}")),
        click(form("/slow")),
        click(form("/slow", f"{FIELD}<button>Keep it</button>"), "Title", "TYPE", text="ebb"),
        click(form("/slow", f"{FIELD}<button>Keep it</button>", "method=get")),
        click(f"<a href='#' onclick=\"{POST}; return false\">Keep it</a>"),
        click(f'<select aria-label=Port onchange="{POST}"><option>Lund<option>Vik</select>',
              "Port", "SELECT", value="Vik"),
        click(f"<label><input type=checkbox onchange=\"{POST}\">Keep it</label>"),
    ],
    "redirect after a save": [
        *(click(form(f"/redirect?{code}")) for code in (301, 302, 303, 307, 308)),
        click(form("/redirect?twice")),
        click(form("/redirect?302", f"{FIELD}<button>Keep it</button>", "method=get")),
        click(form("/redirect?303", FIELD), "Title", "TYPE", text="ebb"),
        click(button("fetch('/fast', {method: 'POST'}).then(() => { location = '/slow' })")),
        click("<a href='/redirect?302'>Keep it</a>"),
    ],
    "download": [
        *(
            click(f"<a href='{path}' {how}>Keep it</a>", tool="DOWNLOAD")
            for path, how in (
                ("/slow", ""), ("/slow", "download"), ("/slow?a.zip", "download=a.zip"),
                ("/redirect?302", ""), ("/stalled", ""), ("/stalled", "download"),
                ("/stalled?b.csv", "target=_blank"), ("/slow", "target=_blank"),
            )
        ),
        click(button("location = '/stalled'"), tool="DOWNLOAD"),
        click(form("/stalled"), tool="DOWNLOAD"),
    ],
    "dialog": [
        click(form("/slow", button("return confirm('Sure?')")), dialog="accept"),
        click(form("/redirect?303", button("return confirm('Sure?')")), dialog="accept"),
        click(button(f"if (confirm('Sure?')) {POST}"), dialog="accept"),
        click(button(f"if (prompt('Which?') !== null) {POST}"), dialog="accept"),
        click(button(f"alert('Beginning'); {POST}"), dialog="accept"),
        click(button(f"if (confirm('Sure?') && confirm('Really?')) {POST}"), dialog="accept"),
        click(button("if (confirm('Sure?')) location = '/slow'"), dialog="accept"),
        click("<a href=/slow onclick=\"return confirm('Leave?')\">Keep it</a>", dialog="accept"),
        click(form("/slow", how="method=post onsubmit='return confirm(1)'"), dialog="accept"),
        click(f"<dialog open>{button(POST)}</dialog>"),
    ],
    "login": [
        click(form("/slow", f"{SECRET}<button>Keep it</button>"), "Word", "TYPE", text="anchor"),
        click(form("/slow", WORD), "Word", "TYPE", text="anchor"),
        click(form("/redirect?303", WORD), "Word", "TYPE", text="anchor"),
        click(form("/redirect?302", f"{SECRET}<button>Keep it</button>")),
        click(form("/slow", f"{SECRET}<button>Keep it</button>")),
        click(f"{SECRET}{button(POST)}"),
        click(f"{SECRET}{button(POST + '.then(() => location.reload())')}"),
        click(form("/slow", f"{SECRET}<input type=submit value='Keep it'>")),
        click(form("/slow", f"{SECRET}<input type=checkbox checked>Stay<button>Keep it</button>")),
        click("<a href=/redirect?302>Keep it</a>"),
    ],
}  # fmt: skip


@contextmanager
def served() -> Iterator[tuple[str, dict[str, str]]]:
    """Serve pages by path; yields the address without the path, and the pages."""
    pages: dict[str, str] = {}
    over = threading.Event()

    class Late(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            if path == "/redirect":
                code = int(query) if query.isdigit() else 302
                target = "/redirect?302" if query == "twice" else "/slow"
                return self.answer(code, "", Location=target)
            if path == "/stalled":
                self.send_response(200)
                self.send_header("Content-Disposition", "attachment; filename=tides.csv")
                self.send_header("Content-Length", "100")
                self.end_headers()
            if path in ("/slow", "/stalled"):
                over.wait(3 * ACT_SECONDS)
                self.close_connection = True
                return None
            return self.answer(200, pages.get(path, ""))

        def do_POST(self) -> None:
            self.do_GET()

        def do_PUT(self) -> None:
            self.do_GET()

        def answer(self, code: int, text: str, **headers: str) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = f"<!doctype html><title>Log</title><h1>Harbour log</h1>{text}".encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Late)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", pages
    finally:
        over.set()
        server.shutdown()
        server.server_close()


async def tried(base: str, folder: Path, call: dict[str, str]) -> str:
    """Act once in a run; return what is wrong with its report, or ""."""
    ref, tool = call["ref"], call["tool"]
    fields: dict[str, Any] = {k: v for k, v in call.items() if k not in ("ref", "tool")}
    if tool == "TYPE":
        fields["submit"] = True
    act = f"<<TOOL:{tool}:{json.dumps({'ref': f'{{{{ref:{ref}}}}}', **fields})}>>"
    opening = f"<<TOOL:OPEN:{base}/>>"
    script = folder / "script.jsonl"
    replies = (opening, act, opening, "NOT_FOUND It is not shown.")
    script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    report = await research(
        "Do it", model=f"scripted:{script}", data_dir=folder, allow_private=["127.0.0.1"]
    )
    events = list(read_events(Runs(folder).find(report.run).journal))
    result = [e.data for e in events if e.type == "tool.result"][1]
    said = json.dumps(result)
    if [e.place for e in events if e.type == "tool.intent"] != ["0/2/1"]:
        return "not tried once"
    if (result.get("data") or {}).get("outcome") != "unknown" or "outcome unknown" not in said:
        return f"not unknown: {said[:300]}"
    if "not repeated" not in result.get("hint", "") or "once more" in said:
        return f"hint: {result.get('hint')}"
    states = [e.data for e in events if e.type == "source.added"]
    return "" if states and states[-1].get("step") == "0/2/1" else "the next look does not say it"


def main(kinds: list[str]) -> int:
    driver.ACT_SECONDS = ACT_SECONDS
    targets = Targets()
    for kind in kinds or TRIES:
        wrong = 0
        for number, (page, call) in enumerate(TRIES[kind], 1):
            with served() as (base, pages), tempfile.TemporaryDirectory() as folder:
                pages["/"] = page
                if why := asyncio.run(tried(base, Path(folder), call)):
                    wrong += 1
                    print(f"{kind} {number}: {why}", flush=True)
        right = len(TRIES[kind]) - wrong
        targets.at_least(f"{kind}: outcome unknown", right, len(TRIES[kind]))
    return targets.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
