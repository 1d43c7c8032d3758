"""Draw the README's pictures from a real run of the demonstration: docs/pictures/*.png.

.venv/bin/python dev/pictures.py
"""

import asyncio
import errno
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from playwright.async_api import Browser, async_playwright
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from browser.session.chrome import find_chrome
from fixtures.demo import QUESTION, environment
from fixtures.server import Site, serve

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
COLUMNS = 96
# Around a terminal's text; {code} is rich's own HTML.
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
    """Run what is shown as typed, its answer on a terminal; what was seen, with its colours."""
    typed = ["research", QUESTION, "--export", "report.html"]
    with serve() as site:
        ours, theirs = pty.openpty()
        ended = subprocess.run(
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
    return f"$ {shown}\n{ended.stderr.decode()}\n{answer.rstrip()}"


def settings(site: Site, folder: Path) -> dict[str, str]:
    """The bundled web as the only one, by environment, and a terminal of our width."""
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
    """What was written to a terminal whose other end is closed."""
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError as error:
            if error.errno != errno.EIO:  # how Linux says that all has been read
                raise
            return
        if not piece:
            return
        yield piece


def as_html(seen: str) -> str:
    """A terminal window around what was seen."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    console.print(Text.from_ansi(seen))
    code = console.export_html(theme=MONOKAI, code_format="{code}", inline_styles=True)
    return WINDOW.format(dots=DOTS, code=code)


async def draw(browser: Browser, terminal: str, report: Path) -> None:
    """Take both pictures."""
    page = await browser.new_page(viewport={"width": 1000, "height": 860}, device_scale_factor=1.5)
    await page.set_content(terminal)
    await page.locator("#window").screenshot(path=PICTURES / "terminal.png")
    await page.goto(report.as_uri())
    await page.screenshot(path=PICTURES / "report.png")


@contextmanager
def page_of(folder: Path) -> Iterator[str]:
    """Serve the page over what was run, until the block ends; gives its address."""
    command = [str(Path(sys.executable).with_name("research")), "serve", "--port", "0"]
    with serve() as site:
        env = environment() | settings(site, folder)
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            yield next(line.strip() for line in server.stdout if "ticket=" in line)
            server.terminate()


async def draw_page(browser: Browser, address: str) -> None:
    """Take pictures of the page: asking, and the passage behind a mark."""
    page = await browser.new_page(viewport={"width": 1280, "height": 760})
    await page.goto(address)
    await page.screenshot(path=PICTURES / "serve-ask.png")
    await page.get_by_label("What do you want to know?").fill(f"{QUESTION} ")
    await page.get_by_role("button", name="Ask", exact=True).click()
    await page.locator("#report a.cite").first.click()
    await page.screenshot(path=PICTURES / "serve-passage.png")


async def main() -> None:
    """Run, then draw."""
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
            await browser.close()
    sys.stdout.write(f"{PICTURES}: terminal.png, report.png, serve-ask.png, serve-passage.png\n")


if __name__ == "__main__":
    asyncio.run(main())
