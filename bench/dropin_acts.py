"""A session of actions on our own pages that uses all but one of @playwright/mcp's tools.

`browser_run_code_unsafe` runs code in the server's own process and is not offered here. In
arguments, `@role name` stands for an element's ref, `{at}` for the pages' address, `{a}` and `{b}`
for files. The text in `says` must be in the answer.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.loopback import Handler, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = Path(__file__).with_name("workshop")


@dataclass(frozen=True)
class Step:
    """A call, what its answer must say, and whether what it opened blocks the page."""

    tool: str
    arguments: dict[str, Any]
    says: tuple[str, ...] = ()
    open: bool = False


class _Workshop(Handler):
    def get(self) -> None:
        page = PAGES / f"{self.path.strip('/').partition('?')[0]}.html"
        if page.is_file():
            self.send(200, "text/html; charset=utf-8", page.read_bytes())
        else:
            self.send(404, "text/plain", b"there is none")

    def post(self, body: bytes) -> None:
        self.send(200, "application/json", json.dumps({"stock": len(body)}).encode())


@contextmanager
def workshop() -> Iterator[str]:
    """Serve the pages; yields their address."""
    with serving(_Workshop, str) as address:
        yield address


def _do(tool: str, *says: str, open: bool = False, **arguments: Any) -> Step:  # noqa: A002
    return Step(f"browser_{tool}", arguments, says, open)


def _field(target: str, kind: str, value: str) -> dict[str, str]:
    return {"target": target, "name": target, "type": kind, "value": value}


def _click(target: str, *says: str, **more: Any) -> Step:
    return _do("click", *says, target=target, **more)


SESSION = (
    _do("navigate", url="{at}/form"),
    _do("type", target="@textbox Name", text="Ottilie"),
    _do("type", target="@textbox Name", text="Anna"),
    _do("type", target="@textbox Code", text="a b", slowly=True),
    _do("type", target="@textbox Search", text="harbour", submit=True),
    _do("type", target="@textbox Notes", text="first line\nsecond line"),
    _do("select_option", target="@combobox Size", values=["Large"]),
    _do("select_option", target="@combobox Size", values=["Medium; wide"]),
    _do("select_option", target="@listbox Extras", values=["a", "Cherry; red"]),
    _click("@checkbox Gift"),
    _click("@radio Fast"),
    _do(
        "fill_form",
        fields=[
            _field("@textbox Mail", "textbox", "anna@example.org"),
            _field("@spinbutton Number", "textbox", "12"),
            _field("@textbox Day", "textbox", "2026-03-31"),
            _field("@combobox Size", "combobox", "Small"),
            _field("@checkbox Gift", "checkbox", "true"),
            _field("@checkbox News", "checkbox", "false"),
            _field("@radio Slow", "radio", "true"),
            _field("@slider Volume", "slider", "8"),
        ],
    ),
    _do("evaluate", "anna@example.org", function="() => document.forms[0].mail.value"),
    _do("evaluate", "Anna", target="@textbox Name", function="e => e.value"),
    _do("type", target="#search", text="by selector"),
    _click("#code"),
    _do("press_key", key="End"),
    _do("press_key", key="z"),
    _do("press_key", key="Control+a"),
    _do("press_key", key="Backspace"),
    _do("press_key", key="Tab"),
    _click("@button Send order"),
    _do("navigate_back"),
    _do("navigate", url="{at}/asks"),
    _click("@button Tell me", "It is late", open=True),
    _do("handle_dialog", accept=True),
    _click("@button Sell it", "Sell the boat?", open=True),
    _do("handle_dialog", accept=False),
    _click("@button Sell it", open=True),
    _do("handle_dialog", accept=True),
    _click("@button Name it", "What name?", open=True),
    _do("handle_dialog", accept=True, promptText="Sea Pink"),
    _click("@button Name it", open=True),
    _do("handle_dialog", accept=False),
    _click("@button Ask twice", "Sure?", open=True),
    _do("handle_dialog", "Why?", accept=True, open=True),
    _do("handle_dialog", accept=True, promptText="rust"),
    _click("@button Ask later", "Still there?", open=True),
    _do("handle_dialog", accept=True),
    _do("type", "Send?", target="@textbox Guarded", text="x", submit=True, open=True),
    _do("handle_dialog", accept=True),
    _do("evaluate", "Really?", function="() => confirm('Really?')", open=True),
    _do("handle_dialog", accept=True),
    _click("@link Onwards"),
    _do("navigate_back"),
    _do("navigate", url="{at}/hands"),
    _click("@button Receipt", open=True),
    _do("file_upload", paths=["{a}"]),
    _click("@button Papers", open=True),
    _do("file_upload", paths=["{a}", "{b}"]),
    _click("@button Attach", open=True),
    _do("file_upload", paths=["{b}"]),
    _click("@button Attach", open=True),
    _do("file_upload"),
    _do("drag", startTarget="@listitem Quince", endTarget="@listitem Pear"),
    _do("drag", startTarget="@listitem Plum", endTarget="@region Bin"),
    _do("drop", target="@region Bin", data={"text/plain": "a word"}),
    _do("drop", target="@region Bin", paths=["{a}"]),
    _do("hover", target="@button Menu"),
    _click("@link Beta"),
    _click("@button Press me"),
    _click("@button Press me", doubleClick=True),
    _click("@button Press me", button="right"),
    _click("@button Press me", button="middle"),
    _click("@button Press me", modifiers=["Shift"]),
    _click("@button Press me", modifiers=["Control", "Alt"]),
    _click("@application Board"),
    _do("press_key", key="q"),
    _do("press_key", key="ArrowUp"),
    _do("press_key", key="Control+k"),
    _do("navigate", url="{at}/time"),
    _click("@button Bring"),
    _do("wait_for", text="New notice"),
    _click("@button Take"),
    _do("wait_for", textGone="Old notice"),
    _do("wait_for", time=0.2),
    _click("@button Ask the server"),
    _do("wait_for", text="got 12"),
    _do("console_messages", "plain words", "be careful", "out of paper", level="info"),
    _do("console_messages", "out of paper", level="error"),
    _do("network_requests", "data.json", "missing.json", "404", static=False),
    _do("network_requests", "data.json", static=False, filter="data"),
    _do("network_request", "200", "seven", "application/json", index="#data.json"),
    _do("network_request", "boat=Ottilie", index="#data.json", part="request-body"),
    _do("network_request", "stock", index="#data.json", part="response-body"),
    _do("resize", width=640, height=480),
    _do("evaluate", "640", "480", function="() => [innerWidth, innerHeight]"),
    _do("emulate_media", colorScheme="dark"),
    _do("find", "Inside", text="inside"),
    _do("find", "Inside", regex="/ins.de/i"),
    _do("snapshot", "Bring"),
    _click("@button Inside"),
    _click("@button Shadow"),
    _do("take_screenshot"),
    _do("take_screenshot", target="@button Take"),
    _click("@link Second window"),
    _do("tabs", "Second", action="list"),
    _do("tabs", action="select", index=1),
    _do("tabs", action="new", url="{at}/form"),
    _do("tabs", action="select", index=0),
    _do("tabs", action="close", index=2),
    _do("tabs", action="close"),
    _do("navigate", url="{at}/second"),
    _do("close", open=True),
)


def acts(address: str, a: str, b: str) -> list[Step]:
    """Return the session with the pages' address and two file names filled in."""

    def filled(value: Any) -> Any:
        if isinstance(value, str):
            return {"{a}": a, "{b}": b}.get(value, value.replace("{at}", address))
        return [filled(one) for one in value] if isinstance(value, list) else value

    return [
        replace(step, arguments={key: filled(value) for key, value in step.arguments.items()})
        for step in SESSION
    ]
