"""Records ten sessions with @playwright/mcp, then replays them with `research browser`.

    python -m bench.browser_command [FOLDER] [SESSION …]

FOLDER stores @playwright/mcp (from npm; a temporary folder by default). Six sessions are on office
pages of realistic size, four on component libraries. Both sides are given the role and name of each
element and find its ref in what was shown; `research browser find`, if needed, is counted. Prints
for each session whether it was completed, whether the pages are equal after each action, and the
tokens. Exits with 8 if an outcome differs, or the tokens exceed 15 %.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from agent.guard.window import tokens
from agent.run.kept_browser import CLOSE, ask, session_folder, start
from bench.components.libraries import NotInstalled, built, served
from bench.dropin import PACKAGE, STATE, TARGET, had_package, named, reference
from bench.dropin_acts import Step
from tests.loopback import Handler, serving

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGES = Path(__file__).with_name("office")
DIGEST = f"""() => {{
  const state = ({STATE})();
  const digest = [...state].reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) | 0, 7);
  return JSON.stringify({{ digest, length: state.length, end: state.slice(-300) }});
}}"""
"""A digest of a page's state: `research browser eval` shows only the beginning of a long result."""


@dataclass(frozen=True)
class Act:
    """An action on the element `target` ("role name"), for both sides."""

    tool: str
    target: str = ""
    text: str = ""

    def step(self) -> Step:
        """The action as a call to @playwright/mcp."""
        at = {"target": f"@{self.target}"} if self.target else {}
        tool, given = {
            "CLICK": ("browser_click", {}),
            "TYPE": ("browser_type", {"text": self.text}),
            "SELECT": ("browser_select_option", {"values": [self.text]}),
            "PRESS": ("browser_press_key", {"key": self.text}),
        }[self.tool]
        return Step(tool, {**at, **given})

    def arguments(self, ref: str) -> dict[str, Any]:
        """The arguments for `research browser`."""
        field = {"TYPE": "text", "SELECT": "value", "PRESS": "keys"}.get(self.tool)
        return {**({"ref": ref} if ref else {}), **({field: self.text} if field else {})}


def _click(target: str) -> Act:
    return Act("CLICK", target)


def _type(target: str, text: str) -> Act:
    return Act("TYPE", target, text)


def _select(target: str, text: str) -> Act:
    return Act("SELECT", target, text)


@dataclass(frozen=True)
class Session:
    """A page, actions on it, and a JS expression that is true when the session is completed."""

    page: str
    acts: tuple[Act, ...]
    done: str


SESSIONS = (
    Session(
        "catalogue",
        (
            _click("button Add Wool blanket 57 to the basket"),
            _click("button Add Brass lamp 91 to the basket"),
            _click("link Basket"),
            _click("button Remove Wool blanket 57"),
        ),
        "basket.join() === 'Brass lamp 91'",
    ),
    Session(
        "orders",
        (
            _click("button Edit order 1077"),
            _type("textbox Quantity of order 1077", "12"),
            _click("button Save order 1077"),
            _click("button Cancel order 1013"),
        ),
        "orders[77].quantity === '12' && orders[13].state === 'cancelled'",
    ),
    Session(
        "registration",
        (
            _type("textbox Family name", "Thorsby"),
            _type("textbox Berth number", "B-17"),
            _select("combobox Season", "Winter"),
            _click("checkbox Shore power"),
            _click("button Send the registration"),
        ),
        "sent?.berth === 'B-17' && sent.season === 'Winter' && sent.power",
    ),
    Session(
        "mail",
        (
            _click("link Invoice 64 from Orlenn Rope Works"),
            _click("button Archive"),
            _click("link Minutes 21 from Hesk Council"),
            _type("textbox Reply", "Seen, thank you."),
            _click("button Send reply"),
        ),
        "archived.join() === '64' && replies[21] === 'Seen, thank you.'",
    ),
    Session(
        "handbook",
        (
            _click("button Open chapter 31"),
            _type("textbox Note on chapter 31", "check the winch"),
            _click("button Keep the note on chapter 31"),
        ),
        "notes[31] === 'check the winch'",
    ),
    Session(
        "settings",
        (
            _click("tab Security"),
            _click("checkbox Two keys for the harbour gate"),
            _click("button Save settings"),
            _click("button Yes, save"),
        ),
        "saved?.gate === true",
    ),
    Session(
        "mui",
        (_click("button Delete account"), _click("button Delete")),
        "state.deleted",
    ),
    Session(
        "radix",
        (
            _click("button Edit profile"),
            _type("textbox Name", "Grace"),
            _click("button Save changes"),
        ),
        "state.name === 'Grace'",
    ),
    Session(
        "bootstrap",
        (
            _click("button New message"),
            _type("textbox Recipient", "ada@example.org"),
            _click("button Send message"),
        ),
        "state.recipient === 'ada@example.org'",
    ),
    Session(
        "vuetify",
        (
            _type("textbox Full name", "Kim Bo"),
            _click("checkbox I agree to the terms"),
            _click("button Save"),
        ),
        "state.saved?.name === 'Kim Bo' && state.saved.agreed",
    ),
)


class _Office(Handler):
    def get(self) -> None:
        file = PAGES / self.path.strip("/")
        if file.is_file():
            self.send(200, "text/html; charset=utf-8", file.read_bytes())
        else:
            self.send(404, "text/plain", b"there is none")


@dataclass
class Played:
    """The result of a session on one side."""

    done: bool
    states: list[str]
    tokens: int
    failed: list[str]


async def recorded(session: Session, url: str, address: str, folder: Path) -> Played:
    """Run a session with @playwright/mcp."""
    with TemporaryDirectory() as made:
        async with reference(folder, address, Path(made), DIGEST) as recorder:
            await recorder.call(Step("browser_navigate", {"url": url}))
            for act in session.acts:
                await recorder.call(act.step())
            done = await recorder.evaluated(f"() => JSON.stringify(!!({session.done}))")
            noted = recorder.session
            states = [state or "" for state in noted.states]
            return Played(done == "true", states, noted.tokens, noted.failed)


class Command:
    """`research browser` in one session: what it prints, and its tokens."""

    def __init__(self, data: Path, address: str) -> None:
        self._folder = session_folder(data, "bench")
        host = address.partition("://")[2]
        options = {"data_dir": str(data), "allow_private": [host], "ignore_robots": True}
        start(self._folder, options)
        self.played = Played(False, [], 0, [])
        self._shown = ""

    def run(self, tool: str, *, counted: bool = True, **arguments: Any) -> str:
        answer = ask(self._folder, tool, arguments)
        assert answer, "the session runs"
        text = str(answer["text"])
        if counted:
            self.played.tokens += tokens(text)
            self._shown = f"{text}\n{self._shown}"
            if answer["failed"]:
                self.played.failed.append(f"{tool} {arguments}: {text[:300]}")
        return text

    def act(self, act: Act) -> None:
        role, _, name = act.target.partition(" ")
        ref = named(self._shown, role, name) if act.target else ""
        if act.target and not ref:
            ref = named(self.run("FIND", text=name), role, name)
        self.run(act.tool, **act.arguments(ref or "e0" if act.target else ""))
        self.look()

    def look(self) -> None:
        self.played.states.append(self.evaluated(DIGEST))

    def evaluated(self, function: str) -> str:
        said = self.run("EVALUATE", counted=False, function=function)
        line = next((row for row in said.splitlines() if row.startswith(('"', "{"))), said)
        found = json.loads(line)
        return found if isinstance(found, str) else json.dumps(found)

    def close(self) -> None:
        self.run(CLOSE, counted=False)


def commanded(session: Session, url: str, address: str) -> Played:
    """Run a session with `research browser`."""
    with TemporaryDirectory() as data:
        command = Command(Path(data), address)
        try:
            command.run("OPEN", url=url)
            command.look()
            for act in session.acts:
                command.act(act)
            done = command.evaluated(f"() => JSON.stringify(!!({session.done}))")
            command.played.done = done == "true"
        finally:
            command.close()
        return command.played


def measure(sessions: Sequence[Session], folder: Path) -> int:
    """Record, play, report."""
    right, there, here = 0, 0, 0
    with ExitStack() as stack:
        office = stack.enter_context(serving(_Office, str))
        try:
            components = f"http://{stack.enter_context(served(built()))}"
        except NotInstalled as error:
            components = ""
            print(f"without component libraries: {error}")
        for session in sessions:
            own = (PAGES / f"{session.page}.html").is_file()
            address = office if own else components
            if not address:
                continue
            url = f"{address}/{session.page}.html"
            then = asyncio.run(recorded(session, url, address, folder))
            now = commanded(session, url, address)
            alike = sum(a == b for a, b in zip(then.states, now.states, strict=False))
            same = then.done and now.done and alike == len(then.states) == len(now.states)
            right, there, here = right + same, there + then.tokens, here + now.tokens
            print(
                f"{session.page}: done {then.done}/{now.done}, alike after {alike} of "
                f"{len(then.states)}, tokens {then.tokens:,} / {now.tokens:,}"
                f" ({now.tokens / then.tokens:.1%})",
                flush=True,
            )
            for line in (*(f"there: {one}" for one in then.failed), *now.failed):
                print(f"  {line}")
            for a, b in zip(then.states, now.states, strict=False):
                if a != b:
                    print(f"  there {a[:300]}\n  here  {b[:300]}")
    print(f"{right} of {len(sessions)} alike; tokens {here / max(1, there):.1%} of {PACKAGE}")
    return 0 if right == len(sessions) and here <= TARGET * there else 8


def main(folder: Path, names: Sequence[str]) -> int:
    if not had_package(folder):
        print(f"skipped: {PACKAGE} is not to be had from npm")
        return 0
    return measure([one for one in SESSIONS if not names or one.page in names], folder)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
    with TemporaryDirectory() as made:
        sys.exit(main(Path(made), ()))
