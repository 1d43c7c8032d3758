"""Runs scripted tasks on live pages through the loop and its tool tags, as a model would.

A script names what it acts on as a user reads it: by visible words, a role, a text nearby. The
player finds the ref in the text of the observations, newest first; it knows nothing else.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from agent.evidence import Evidence
from agent.guard.budget import Budget
from agent.limits import LimitSettings
from agent.loop.loop import Loop
from agent.models.base import ModelReply
from agent.options import Options
from agent.prompts import BROWSING, prompt
from agent.run.web import open_web
from agent.tools.context import ToolContext
from agent.tools.policy import Policy
from agent.tools.registry import Registry
from agent.tools.toolset import available_tools
from agent.types import Message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from agent.models.base import Model
    from agent.tools.context import Web

STEPS = 40
TRUTH_MS = 1_500
"""Time allowed for a page to reach the expected state after the last action."""
TAIL = 1_800
"""Characters of the last observation to show for a failure."""
FINDS = 4
"""Number of times that an incomplete FIND is asked to continue."""
MAX_NEAR_LINES = 4
"""Maximum distance in lines for a text to count as beside a control."""
_OPENING = re.compile(r"\[((?:f\d+)*[a-z]\d+)\b ?")
_HEAD = re.compile(r"([^:=,\[]*)(?::|(?= =))")
_FRAMING = ("[Tool result for ", "[HINT: ", "<web ", "</web>", "nothing ")
_BOXES = ("checkbox", "radio", "switch")
_RESULT = re.compile(r"^\[Tool result for (\w+)\]: (\{.*\})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class At:
    """What a call acts on: `words` from its name or label; `role` may list several with `|`.

    `near` is a text in its row or within a few lines; `nth` selects among equally good matches.
    """

    words: str
    role: str = ""
    near: str = ""
    nth: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; an `At` among its fields is replaced with the ref found for it."""

    tool: str
    fields: dict[str, Any]


Reply = tuple[Call, ...]


def _at(what: str | At) -> At:
    return At(what) if isinstance(what, str) else what


def click(what: str | At, **more: Any) -> Call:
    return Call("CLICK", {"ref": _at(what), **more})


def enter(what: str | At, text: str, **more: Any) -> Call:
    return Call("TYPE", {"ref": _at(what), "text": text, **more})


def choose(what: str | At, value: str) -> Call:
    return Call("SELECT", {"ref": _at(what), "value": value})


def press(keys: str, what: str | At | None = None) -> Call:
    return Call("PRESS", {"keys": keys, **({"ref": _at(what)} if what else {})})


def hover(what: str | At) -> Call:
    return Call("HOVER", {"ref": _at(what)})


def drag(what: str | At, to: str | At | None = None, **more: Any) -> Call:
    return Call("DRAG", {"ref": _at(what), **({"to": _at(to)} if to else {}), **more})


def find(text: str) -> Call:
    return Call("FIND", {"text": text})


def scroll(**fields: Any) -> Call:
    return Call("SCROLL", {k: _at(v) if k == "ref" else v for k, v in fields.items()})


def wait(text: str, seconds: float = 10) -> Call:
    return Call("WAIT", {"text": text, "seconds": seconds})


@dataclass(frozen=True, slots=True)
class Task:
    """A task on a page: its text, the replies that complete it, and a JS expression.

    The expression is truthy when the task is done; it queries the component, never a snapshot.
    """

    text: str
    replies: tuple[Reply, ...]
    done: str


@dataclass(slots=True)
class Played:
    """The result of a task. `claims` is what actions reported (`did`), `faults` what went wrong.

    `lost` is the target for which no ref was found; `replies` counts those after the page was
    opened.
    """

    task: Task
    done: bool = False
    replies: int = 0
    claims: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    lost: str = ""
    last: str = ""

    @property
    def honest(self) -> bool:
        """Whether a failure was visible: an action reported it, or what it needs is not shown."""
        return bool(self.faults or self.lost)


@dataclass(frozen=True, slots=True)
class Shown:
    """A control as shown in an observation."""

    ref: str
    role: str
    name: str
    line: int
    column: int


class NotShown(LookupError):
    """No observation shows such a control."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A parsed observation: its lines except removed ones, and the controls in them."""

    lines: tuple[str, ...]
    controls: tuple[Shown, ...]

    @classmethod
    def of(cls, text: str) -> Observed:
        lines = [line for line in text.splitlines() if not line.startswith(_FRAMING)]
        if any(line.lstrip().startswith(("+ ", "~ ")) for line in lines):
            lines = [line for line in lines if not line.startswith("- ")]
        shown = tuple(c for n, line in enumerate(lines) for c in _controls(line, n))
        return cls(tuple(lines), shown)

    def best(self, what: At, *, any_role: bool = False) -> Shown | None:
        """Return the control that a user would choose; None if nothing matches."""
        beside = self._places(what.near) if what.near else []
        roles = () if any_role or not what.role else what.role.split("|")
        close = [
            c
            for c in self.controls
            if (not what.near or _distance(c, beside) <= MAX_NEAR_LINES)
            and (not roles or c.role in roles)
        ]
        ranks = {
            c: rank for c in close if (rank := _name_match_rank(c.name, what.words.casefold()))
        }
        if ranks:
            best = min((_distance(c, beside), rank) for c, rank in ranks.items())
            found = [c for c, rank in ranks.items() if (_distance(c, beside), rank) == best]
        else:  # the words are before it in its line or in the line above; after a checkbox
            beside = self._places(what.words) if what.words else []
            found = [c for c in close if _position_rank(c, beside)[0] <= (c.role in _BOXES)]
        found.sort(key=lambda c: _position_rank(c, beside))
        return found[what.nth] if what.nth < len(found) else None

    def _places(self, text: str) -> list[tuple[int, int]]:
        wanted = text.casefold()
        found = [(n, line.casefold().find(wanted)) for n, line in enumerate(self.lines)]
        return [(n, column) for n, column in found if column >= 0]


def _controls(line: str, number: int) -> Iterator[Shown]:
    for opening in _OPENING.finditer(line):
        depth, end = 1, opening.end()
        while end < len(line) and depth:
            depth += {"[": 1, "]": -1}.get(line[end], 0)
            end += 1
        inside = line[opening.end() : end - 1 if not depth else end]
        if not opening.group().endswith(" "):  # `[e3: a link]`
            yield Shown(opening[1], "link", bare(inside.lstrip(":")), number, opening.start())
            continue
        head = _HEAD.match(inside)
        role, name = (head[1], inside[head.end() :]) if head else (inside, "")
        yield Shown(opening[1], role.strip(), bare(name), number, opening.start())


def bare(name: str) -> str:
    """Return a control's name without the refs of controls inside it."""
    return " ".join(re.sub(r"\[(?:f\d+)*[a-z]\d+( \w+)?:?|\]", " ", name).split()).casefold()


def _name_match_rank(name: str, words: str) -> tuple[int, int] | None:
    """Rate how well a name matches words: as a whole, its beginning, or a part; shorter first."""
    core = name.partition(" = ")[0]
    unseen = name.endswith((", invisible", ", covered"))
    if not words or words in (name, core, core.partition(", ")[0]):
        return (0, unseen)
    if core.startswith(words):
        return (1, len(core))
    return (2, len(core)) if words in name else None


def _distance(control: Shown, places: list[tuple[int, int]]) -> int:
    return min((abs(control.line - line) for line, _ in places), default=MAX_NEAR_LINES + 1)


def _position_rank(control: Shown, places: list[tuple[int, int]]) -> tuple[int, int, int]:
    """Return a control's position to a text: 0 after it or on the next line, 1 before, 2 apart."""
    ways = [(control.line - line, control.column - column) for line, column in places]
    ranks = (
        (0, n, c) if (n, c) >= (0, 0) and n <= 1 else (1 if n == 0 else 2, abs(n), abs(c))
        for n, c in ways
    )
    return min(ranks, default=(2, 0, 0))


class Player:
    """A model that gives a script's replies and looks up refs in what it was shown."""

    name = "player"

    def __init__(self, url: str, task: Task, judge: Callable[[], Any]) -> None:
        self.played = Played(task)
        self._url = url
        self._judge = judge
        self._left = list(task.replies)
        self._seen: list[Observed] = []
        self._looks: Counter[At] = Counter()
        self._found = ""
        self._snapped: set[At] = set()

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Open the page, give the script's replies line by line, then check the page's state."""
        if len(messages) == 1:
            return ModelReply(_tag("OPEN", {"url": self._url}))
        self._read(messages[-1].content)
        if self._left:
            try:
                said = "\n".join(map(self._written, self._left[0]))
            except NotShown as missing:
                if looking := self._look_for(missing.args[0]):
                    self.played.replies += 1
                    return ModelReply(looking)
                self.played.lost = str(missing.args[0])
            else:
                del self._left[0]
                self.played.replies += 1
                return ModelReply(said)
        self.played.done = await self._judge()
        return ModelReply("NOT_FOUND played")

    async def aclose(self) -> None:
        return

    def _look_for(self, missing: At) -> str:
        """Return how to look for a control that is not visible: FIND, then SNAPSHOT, finally "".

        A FIND that reports that it can continue is repeated.
        """
        self._looks[missing] += 1
        text = missing.near or missing.words
        goes_on = "FIND again" in self.played.last and self._looks[missing] <= FINDS
        if text and (goes_on or text != self._found):
            self._found = text
            return _tag("FIND", {"text": text})
        if missing in self._snapped:
            return ""
        self._snapped.add(missing)
        return _tag("SNAPSHOT", {})

    def _read(self, text: str) -> None:
        self._seen.insert(0, Observed.of(text))
        self.played.last = text
        for name, data in _RESULT.findall(text):
            said = json.loads(data)
            if error := said.get("error"):
                self.played.faults.append(f"{name}: {error}")
            elif did := said.get("did"):
                doubted = ", but " in did or "could not be checked" in did
                (self.played.faults if doubted else self.played.claims).append(did)
                self.played.faults += [e for e in said.get("events", ()) if "but " in e]

    def _written(self, call: Call) -> str:
        if call.tool == "FIND":
            self._found = call.fields["text"]
        fields = {
            name: self._ref(value) if isinstance(value, At) else value
            for name, value in call.fields.items()
        }
        return _tag(call.tool, fields)

    def _ref(self, what: At) -> str:
        for any_role in (False, True) if what.role and what.words else (False,):
            found = [c for seen in self._seen if (c := seen.best(what, any_role=any_role))]
            if found:  # newest first; exact matches before partial ones
                return min(
                    found,
                    key=lambda c: (_name_match_rank(c.name, what.words.casefold()) or (1,))[0] > 0,
                ).ref
        raise NotShown(what)


class Person(Player):
    """A person as the model: prints what is shown, and reads tags from stdin."""

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        if len(messages) == 1:
            print(f"TASK: {self.played.task.text}\n(an empty line sends; `done` alone ends)\n")
            return ModelReply(_tag("OPEN", {"url": self._url}))
        self._read(messages[-1].content)
        print(messages[-1].content, flush=True)
        lines: list[str] = []
        while (line := _line()) not in ("", "done"):
            lines.append(line)
        if lines:
            self.played.replies += 1
            return ModelReply("\n".join(lines))
        self.played.done = await self._judge()
        return ModelReply("NOT_FOUND played")


def _line() -> str:
    try:
        return input("> ")
    except EOFError:
        return "done"


def _tag(tool: str, fields: dict[str, Any]) -> str:
    return f"<<TOOL:{tool}:{json.dumps(fields, ensure_ascii=False)}>>"


@dataclass(slots=True)
class Stage:
    """A browser as in a run, behind the egress proxy; each task gets new tools."""

    web: Web

    async def play(self, url: str, task: Task, player: type[Player] = Player) -> Played:
        context = ToolContext(
            task.text, Evidence(), LimitSettings(), lambda *_, **__: None, lambda _: ""
        )
        context.web = self.web
        tools = Policy(Registry(tool for tool, why in available_tools(context) if not why), context)

        async def judge() -> bool:
            return await self.truth(task.done)

        model: Model = player(url, task, judge)
        loop = Loop(
            model, tools, Budget(max_steps=STEPS), prompt(BROWSING), context.record, guard=None
        )
        await loop.run([Message("user", task.text)])
        return model.played

    async def truth(self, expression: str) -> bool:
        """Query the page itself, which may take a moment to reach the state."""
        try:
            await self.web.tab.page.wait_for_function(expression, timeout=TRUTH_MS)
        except PlaywrightError:
            return False
        return True


@asynccontextmanager
async def stage(*hosts: str) -> AsyncIterator[Stage]:
    """Open a run's web access with these hosts (`127.0.0.1:8000`) allowed."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        options = Options(allow_private=hosts, memory=False, data_dir=folder)
        yield Stage(await stack.enter_async_context(open_web(options, {})))


def report(where: str, played: Played, *, verbose: bool = False) -> str:
    """Format one line per task, with what was said and shown if it failed."""
    head = f"{where:24} {'ok  ' if played.done else 'FAIL'} {played.replies} replies  "
    if played.done:
        return head + played.task.text
    why = f"no ref for {played.lost}" if played.lost else "; ".join(played.faults)
    kind = "said so" if played.honest else "FALSE DONE"
    lines = [f"{head}{kind}: {played.task.text}", f"    {why or '; '.join(played.claims)}"]
    if verbose or played.lost:
        lines += ["    | " + line for line in played.last[-TAIL:].splitlines()]
    return "\n".join(lines)
