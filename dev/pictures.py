"""Makes the pictures in the README and docs/ from real runs on the bundled web.

.venv/bin/python dev/pictures.py
"""

import asyncio
import errno
import json
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread

from playwright.async_api import Browser, async_playwright
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from browser.session.chrome import find_chrome
from fixtures.demo import QUESTION, environment
from fixtures.server import Site, serve

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
COLUMNS = 96
# Surrounds a terminal's text; {code} is HTML made by rich.
WINDOW = """<body style="margin:0;background:#fff"><div id="window" style="display:inline-block;
background:#16181d;border-radius:10px;padding:14px 22px 20px;margin:18px">
<div style="margin-bottom:12px">{dots}</div><pre style="margin:0;font:15px/1.45 'DejaVu Sans Mono',
monospace;color:#e6e6e6">{code}</pre></div>"""
DOTS = "".join(
    f'<i style="display:inline-block;width:12px;height:12px;border-radius:50%;'
    f'background:{colour};margin-right:8px"></i>'
    for colour in ("#ff5f57", "#febc2e", "#28c840")
)


def run(folder: Path) -> str:
    """Run the command in a terminal; returns the command and its output, with ANSI colours."""
    typed = ["research", QUESTION, "--export", "report.html"]
    with serve() as site:
        ours, theirs = pty.openpty()
        done = subprocess.run(
            [str(Path(sys.executable).with_name(typed[0])), *typed[1:]],
            cwd=folder,
            env=environment() | settings(site, folder),
            stdout=theirs,
            stderr=subprocess.PIPE,
            check=True,
        )
    os.close(theirs)
    answer = b"".join(written(ours)).decode().replace("\r\n", "\n")
    shown = " ".join(f'"{part}"' if " " in part else part for part in typed)
    return f"$ {shown}\n{done.stderr.decode()}\n{answer.rstrip()}"


def settings(site: Site, folder: Path) -> dict[str, str]:
    """Return environment variables that restrict a run to the bundled web and set the width."""
    return {
        "RESEARCH_MODEL": "extractive",
        "RESEARCH_SEARCH": "searxng",
        "RESEARCH_SEARXNG_URL": site.url,
        "RESEARCH_ALLOW_PRIVATE": site.address,
        "RESEARCH_DATA_DIR": str(folder / "data"),
        "COLUMNS": str(COLUMNS),
        "TERM": "xterm-256color",
    }


def written(terminal: int) -> Iterator[bytes]:
    """Yield the output of a terminal whose other end is closed."""
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError as error:
            if error.errno != errno.EIO:  # Linux's sign that everything has been read
                raise
            return
        if not piece:
            return
        yield piece


def as_html(seen: str) -> str:
    """Return HTML that shows the terminal output in a window."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    console.print(Text.from_ansi(seen))
    code = console.export_html(theme=MONOKAI, code_format="{code}", inline_styles=True)
    return WINDOW.format(dots=DOTS, code=code)


async def draw(browser: Browser, terminal: str, report: Path) -> None:
    """Take the pictures of the terminal and the report."""
    page = await browser.new_page(viewport={"width": 1000, "height": 860}, device_scale_factor=1.5)
    await page.set_content(terminal)
    await page.locator("#window").screenshot(path=PICTURES / "terminal.png")
    await page.goto(report.as_uri())
    await page.screenshot(path=PICTURES / "report.png")


@contextmanager
def page_of(folder: Path, **own: str) -> Iterator[str]:
    """Serve the web interface with the folder's runs until the block ends; yields its address."""
    command = [str(Path(sys.executable).with_name("research")), "serve", "--port", "0"]
    with serve() as site:
        env = environment() | settings(site, folder) | own
        with subprocess.Popen(
            command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            yield next(line.strip() for line in server.stdout if "ticket=" in line)
            server.terminate()


async def draw_page(browser: Browser, address: str) -> None:
    """Take pictures of the web interface: the form, and the passage behind a citation."""
    page = await browser.new_page(viewport={"width": 1280, "height": 760})
    await page.goto(address)
    await page.screenshot(path=PICTURES / "serve-ask.png")
    await page.get_by_label("What do you want to know?").fill(f"{QUESTION} ")
    await page.get_by_role("button", name="Ask", exact=True).click()
    await page.locator("#report a.cite").first.click()
    await page.screenshot(path=PICTURES / "serve-passage.png")


TABLE = """These ferries sail in 2026:

| Ship | Passengers | Cars | Built |
|---|---|---|---|
| MV Anna Torrand | 310 | 52 | 2014 [S1] |
| MV Kittiwake | 180 | 24 | 1998 [S1] |
| MV Brackwater | 60 | 0 | 1987 [S1] |
| Slow Joan | 40 | 6 | 1961 [S1] |"""
PLAN = {
    "sections": [
        {
            "heading": "When they were lit",
            "task": "Find out when each of the two lights was first lit.",
            "searches": ["Hesk Light first lit", "Marrow Point Light first lit"],
        },
        {
            "heading": "Who keeps them",
            "task": "Find out who runs the lights today.",
            "searches": ["keeper of Hesk Light"],
        },
    ]
}


@contextmanager
def newspaper(site: Site) -> Iterator[str]:
    """Serve an article that cites the bundled site; yields its address, on another host."""
    cited = f'<a href="{site.url}/hesk-light">the register of lights</a>'
    article = f"<p>It was first lit on 1 November 1829, according to {cited}.</p>"
    page = (
        f"<!doctype html><title>The oldest light</title><main><h1>Hesk Light</h1>{article}</main>"
    )

    class News(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = page.encode() if self.path == "/news" else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            del args

    with ThreadingHTTPServer(("127.0.0.1", 0), News) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_address[1]}"
        server.shutdown()


def script(folder: Path, name: str, *replies: str | dict[str, str]) -> str:
    """Write the replies of a scripted model; returns the model's name."""
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    return f"scripted:{path.name}"


def run_commands(folder: Path, site: Site) -> dict[str, str]:
    """Run the how-to guides' commands; returns their output by the picture's name."""
    lit = "It was first lit on 1 November 1829. [S1]"
    contrary = {"reply": json.dumps({"queries": ["Hesk Light tower height"]}), "for": "challenge"}
    read = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    table = f'<<TOOL:READ:{{"url":"{site.url}/ferries"}}>>'
    form = (
        f"<<TOOL:OPEN:{site.url}/berth-request>>",
        '<<TOOL:TYPE:{"ref":"{{ref:Name of the boat}}","text":"Wren"}>>',
        "<<TOOL:SNAPSHOT>>",
        '<<TOOL:TYPE:{"ref":"{{ref:Length in metres}}","text":"9"}>>',
        "<<TOOL:SNAPSHOT>>",
        '<<TOOL:TYPE:{"ref":"{{ref:Nights}}","text":"2"}>>',
        "<<TOOL:SNAPSHOT>>",
        "<<TOOL:CLICK:{{ref:Work out the fee}}>>",
        "The fee was worked out.",
    )

    def shown(*commands: list[str], model: str = "extractive") -> str:
        env = environment() | settings(site, folder) | {"RESEARCH_MODEL": model}
        text = ""
        for command in commands:
            done = subprocess.run(
                [str(Path(sys.executable).with_name("research")), *command],
                cwd=folder, env=env, capture_output=True, text=True, check=False,
            )  # fmt: skip
            typed = " ".join(f'"{part}"' if " " in part else part for part in command)
            text += f"$ research {typed}\n{done.stdout}{done.stderr}\n"
        return text.rstrip()

    question = ["-q", "When was the tower of Hesk Light first lit?"]
    seen = {}
    # A newspaper on another site that cites the bundled site.
    with newspaper(site) as news:
        read_news = f'<<TOOL:READ:{{"url":"{news}/news"}}>>'
        verdicts = [{"reply": said, "for": "judge"} for said in ("answer: fully", "1: not stated")]
        model = script(folder, "primary", read_news, lit, verdicts[0], contrary, verdicts[1])
        hosts = ["--allow-private", news.partition("://")[2], "--allow-private", site.url[7:]]
        asked = [*question, *hosts, "--no-memory", "--challenge"]
        seen["primary"] = shown(asked, model=model)
    # The same page on two hosts, as on a mirror.
    mirror = site.url.replace("127.0.0.1", "localhost")
    both = f"{read} {read.replace(site.url, mirror)}"
    model = script(folder, "origins", both, f"{lit} [S2]")
    allowed = ["--allow-private", mirror.partition("://")[2], "--allow-private", site.url[7:]]
    seen["origins"] = shown([*question, *allowed], model=model)
    model = script(folder, "challenge", read, lit, contrary)
    seen["challenge"] = shown([*question, "--challenge"], model=model)
    seen["recheck"] = shown(["recheck", "-q", "last"])
    model = script(folder, "proof", read, lit)
    shown([*question], model=model)
    proof = ["export", "last", "--sentence", "1", "proof.zip"]
    seen["proof"] = shown(proof, ["verify", "proof.zip"])
    shown(["-q", "Ask for a berth."], model=script(folder, "form", *form))
    changed = ["--with", "Name of the boat=Heron", "--with", "Nights=3"]
    seen["rerun"] = shown(["rerun", "-q", "last", *changed])
    which = ["-q", "Which ferries are there?", "--export", "charts.html", "--export", "charts.pdf"]
    shown([*which, "--export", "charts.docx"], model=script(folder, "table", table, TABLE))
    return seen


async def draw_how_tos(browser: Browser, folder: Path) -> None:
    """Take the pictures for the how-to guides."""
    page = await browser.new_page(viewport={"width": 1000, "height": 860}, device_scale_factor=1.5)
    with serve() as site:
        for name, seen in (await asyncio.to_thread(run_commands, folder, site)).items():
            await page.set_content(as_html(seen))
            await page.locator("#window").screenshot(path=PICTURES / f"{name}.png")
    await page.goto((folder / "charts.html").as_uri())
    await page.locator(".answer").screenshot(path=PICTURES / "charts.png")
    model = script(folder, "plan", {"reply": json.dumps(PLAN), "for": "plan"})
    with page_of(folder, RESEARCH_MODEL=model) as address:
        page = await browser.new_page(viewport={"width": 1280, "height": 760})
        await page.goto(address)
        await page.get_by_label("What do you want to know?").fill("What of the two lights of Hesk?")
        await page.get_by_label("Depth").select_option("report")
        await page.get_by_label("Plan first").check()
        await page.get_by_role("button", name="Ask", exact=True).click()
        await page.get_by_label("The plan").wait_for()
        await page.screenshot(path=PICTURES / "plan.png")


async def main() -> None:
    """Run all commands and take all pictures."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        terminal = as_html(run(Path(folder)))
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=find_chrome(), args=["--no-sandbox"]
            )
            await draw(browser, terminal, Path(folder) / "report.html")
            with page_of(Path(folder)) as address:
                await draw_page(browser, address)
            await draw_how_tos(browser, Path(folder))
            await browser.close()
    sys.stdout.write(f"{PICTURES}: {', '.join(path.name for path in PICTURES.glob('*.png'))}\n")


if __name__ == "__main__":
    asyncio.run(main())
