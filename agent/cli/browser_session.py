"""`research browser`: a browser session for coding agents and scripts, one command per action."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import FILE, data_dir_option, drop_unset, only_run_flags, option, switch
from agent.cli.terminal import print_error, print_text
from agent.config import private_folder
from agent.errors import UsageError
from agent.files import write_file
from agent.run.kept_browser import CLOSE, PICTURE, ask, session_folder, start

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ACT_FAILED = 8
"""Exit code if an action fails or text is not found."""
_SESSION_FLAGS = (
    "--headed --attach --cdp --storage-state --login --record --allow --deny --allow-private "
    "--proxy --share --yes --file --ignore-robots"
).split()


@click.group()
@option("--name", None, "Name of the session.", default="default", show_default=True)
@data_dir_option
@click.pass_context
def browser(ctx: click.Context, name: str, data_dir: Path) -> None:
    """Control a browser session, one command per action.

    The session ends after 30 minutes without a command. Refer to elements by the refs that `open`,
    `snapshot` and `find` print, such as e12. Each action prints what it changed.
    """
    ctx.obj = session_folder(private_folder(data_dir), name)


def _call(folder: Path, tool: str, **arguments: Any) -> int:
    answer = ask(folder, tool, arguments)
    if answer is None:
        hint = "`research browser open URL` starts one."
        raise UsageError("no browser session is running", hint=hint)
    return _show(answer)


def _show(answer: dict[str, Any]) -> int:
    print_text(answer["text"])
    return ACT_FAILED if answer["failed"] else 0


@browser.command(name="open")
@click.argument("url")
@only_run_flags(*_SESSION_FLAGS)
@click.pass_context
def open_(ctx: click.Context, /, url: str, **flags: Any) -> int:
    """Open URL and show the page. The flags of the first `open` apply to the whole session."""
    folder: Path = ctx.obj
    given = drop_unset(flags)
    url = url if "://" in url else f"https://{url}"
    answer = ask(folder, "OPEN", {"url": url})
    if answer is None:
        assert ctx.parent, "a command of the group"
        start(folder, {**given, "data_dir": str(ctx.parent.params["data_dir"])})
        answer = ask(folder, "OPEN", {"url": url})
    elif given:
        hint = "To change the flags, run `research browser close` and open the page again."
        print_error("the session is already running; the flags were ignored", hint)
    assert answer, "it was just started"
    return _show(answer)


@browser.command()
@click.argument("ref", required=False)
@click.pass_obj
def snapshot(folder: Path, ref: str | None) -> int:
    """Show the page, or everything inside REF, such as a collapsed section (x3)."""
    return _call(folder, "SNAPSHOT", ref=ref)


@browser.command()
@click.argument("text")
@click.pass_obj
def find(folder: Path, text: str) -> int:
    """Find text or a role anywhere on the page, including long lists."""
    return _call(folder, "FIND", text=text)


@browser.command(name="click")
@click.argument("ref")
@switch("--double", "Click twice.")
@switch("--right", "Click with the right button.")
@option(
    "--at",
    "X Y",
    "Point to click, in pixels from the element's top-left corner.",
    nargs=2,
    type=float,
)
@option(
    "--dialog", "ANSWER", "Answer to the dialog that opens: accept, dismiss or the text to enter."
)
@click.pass_obj
def click_(folder: Path, /, ref: str, *, double: bool, right: bool, **more: Any) -> int:
    """Click REF."""
    x, y = more["at"] or (None, None)
    arguments = {"count": 2 if double else 1, "button": "right" if right else "left"}
    return _call(folder, "CLICK", ref=ref, x=x, y=y, dialog=more["dialog"], **arguments)


@browser.command(name="type")
@click.argument("ref")
@click.argument("text")
@switch("--submit", "Press Enter after typing.")
@switch("--append", "Add to the field's existing text.")
@option("--instead", "TEXT", "Replace only this part of the field's text.")
@click.pass_obj
def type_(folder: Path, /, ref: str, text: str, **how: Any) -> int:
    """Replace the text in the field REF. <secret>NAME</secret> enters a stored secret."""
    return _call(folder, "TYPE", ref=ref, text=text, **how)


@browser.command()
@click.argument("ref")
@click.argument("value")
@click.pass_obj
def select(folder: Path, ref: str, value: str) -> int:
    """Select an option in REF by its text; separate several options with `;`."""
    return _call(folder, "SELECT", ref=ref, value=value)


@browser.command()
@click.argument("keys")
@click.argument("ref", required=False)
@click.pass_obj
def press(folder: Path, keys: str, ref: str | None) -> int:
    """Press KEYS in sequence, such as "ArrowDown Enter", in REF or the focused element."""
    return _call(folder, "PRESS", keys=keys, ref=ref)


@browser.command()
@click.argument("ref")
@click.argument("to", required=False)
@option("--by", "X Y", "Distance in pixels.", nargs=2, type=float)
@click.pass_obj
def drag(folder: Path, ref: str, to: str | None, by: tuple[float, float] | None) -> int:
    """Drag REF onto the element TO, or by a number of pixels."""
    dx, dy = by or (0, 0)
    return _call(folder, "DRAG", ref=ref, to=to, dx=dx, dy=dy)


@browser.command()
@click.argument("ref")
@click.argument("path", type=FILE)
@click.pass_obj
def upload(folder: Path, ref: str, path: Path) -> int:
    """Upload the file PATH to the field REF. Allow the file first with `open --file`."""
    return _call(folder, "UPLOAD", ref=ref, path=str(path))


@browser.command()
@click.argument("to", default="")
@option("--ref", "REF", "Scroll this element.")
@option("--pages", "N", "Number of screens; a negative number scrolls up.", type=float, default=1.0)
@click.pass_obj
def scroll(folder: Path, to: str, ref: str | None, pages: float) -> int:
    """Scroll by one screen, or TO `top`, `bottom` or some text on the page."""
    return _call(folder, "SCROLL", to=to or None, ref=ref, pages=pages)


@browser.command()
@click.argument("text", default="")
@option("--seconds", "N", "Maximum time to wait.", type=float, default=10.0)
@click.pass_obj
def wait(folder: Path, text: str, seconds: float) -> int:
    """Wait until TEXT or a /pattern/ appears on the page; without TEXT, wait for the full time."""
    return _call(folder, "WAIT", text=text, seconds=seconds)


@browser.command()
@click.argument("url", required=False)
@click.pass_obj
def read(folder: Path, url: str | None) -> int:
    """Read the open page, or URL, as an article."""
    return _call(folder, "READ", url=url)


@browser.command(name="eval")
@click.argument("function")
@click.argument("ref", required=False)
@click.pass_obj
def eval_(folder: Path, function: str, ref: str | None) -> int:
    """Run a JavaScript FUNCTION in the page: `() => …`, or `element => …` with REF."""
    return _call(folder, "EVALUATE", function=function, ref=ref)


@browser.command()
@click.argument("file", type=FILE)
@click.pass_obj
def screenshot(folder: Path, file: Path) -> int:
    """Save a screenshot of the visible page as FILE (PNG)."""
    answer = ask(folder, PICTURE, {})
    if answer is None:
        return _call(folder, PICTURE)
    if picture := answer.get("picture"):
        write_file(file, base64.b64decode(picture))
        answer["text"] = f"saved {file}"
    return _show(answer)


@browser.command()
@option("--switch", "TAB", "Switch to this tab, such as t2.")
@option("--close", "TAB", "Close this tab.")
@click.pass_obj
def tabs(folder: Path, switch: str | None, close: str | None) -> int:
    """List the tabs."""
    return _call(folder, "TABS", switch=switch, close=close)


@browser.command()
@click.pass_obj
def close(folder: Path) -> int:
    """End the session and close its browser."""
    return _call(folder, CLOSE)


def _make_ref_command(name: str, tool: str, text: str) -> Callable[..., int]:
    @browser.command(name=name, help=text)
    @click.argument("ref")
    @click.pass_obj
    def act(folder: Path, ref: str) -> int:
        return _call(folder, tool, ref=ref)

    return act


_make_ref_command("hover", "HOVER", "Move the pointer over REF.")
_make_ref_command("download", "DOWNLOAD", "Click REF and save the file that it downloads.")


@browser.command()
@click.pass_obj
def back(folder: Path) -> int:
    """Go back."""
    return _call(folder, "BACK")
