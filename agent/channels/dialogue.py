"""A channel's messages, from the sender's first word to the last part of the answer.

Only those on the allow-list are heard: they are the person. What they forward or quote, and their
files, are words of others, and go into a run as files.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.channels.answer_text import answer_text, split_answer
from agent.channels.channel import Outbound
from agent.channels.inbox import DONE, FAILED, HELD, SENT, TRYING, UNKNOWN, WAITING, Part
from agent.errors import NotSent, ResearchError, UsageError
from agent.export import writer
from agent.files import write_atomic
from agent.journal.runs import Runs
from agent.notify.notice import Attachment
from agent.notify.service_client import backoff_delay
from agent.run.outcome import FINAL
from agent.run.research import research
from agent.run.resume import resume_run
from agent.types import Report
from browser.errors import BrowserError, ConnectFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from agent.channels.channel import Channel, Inbound
    from agent.channels.inbox import Inbox
    from agent.config import Options
    from agent.journal.events import Event

AT_ONCE = 2
"""Runs of a channel side by side; those of one sender come one after the other."""
_PATIENCE_S = 600.0
"""Who has not answered after ten minutes is not coming."""
_BUSY_S = 8.0
_MOST_FILES = 8
_HELP = (
    "Ask a question, and I look for the answer and its sources.\n"
    "/report .pdf sends the last one as a file (.md .html .docx …), /new begins a conversation, "
    "/stop ends what I am at."
)
_YES = {"yes", "y", "ja", "oui", "sí", "si", "ok"}
_BUTTONS = (("yes", "Yes"), ("site", "Yes, on all of this site"), ("no", "No"))


@dataclass(slots=True)
class _Asked:
    """A question that waits for the person: by buttons, or in words."""

    code: str
    said: asyncio.Future[str] = field(repr=False)


class Dialogue:
    """The conversations of one channel. `say` tells who runs it, `again` is the first wait (s)."""

    def __init__(
        self,
        name: str,
        channel: Channel,
        inbox: Inbox,
        options: Options,
        say: Callable[[str], None],
        again: float = 0.5,
    ) -> None:
        self._name = name
        self._channel = channel
        self._settings = channel.settings
        self._inbox = inbox
        self._data = options.data
        self._say = say
        self._again = again
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._asked: dict[tuple[str, str], _Asked] = {}
        self._running: dict[str, tuple[str, asyncio.Future[Any]]] = {}
        self._tasks: set[asyncio.Future[Any]] = set()

    def go_on(self) -> None:
        """Go on with what was taken before the last end."""
        for message in self._inbox.waiting():
            self._begin(self._answer(message))

    async def close(self) -> None:
        """Stop what is under way; it goes on at the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def take(self, message: Inbound) -> None:
        """Take a message: it is on disk when this returns."""
        if message.sender not in self._settings.allow:
            await self._refuse(message)
            return
        if not self._inbox.add(message, DONE if self._answers(message) else WAITING):
            return
        if self._answers(message):
            asked = self._asked.pop((message.thread, message.sender))
            asked.said.set_result(message.choice.partition(":")[2] or message.text)
            return
        self._begin(self._follow(message))

    def _follow(self, message: Inbound) -> Coroutine[Any, Any, None]:
        """Give what a message asks for: a command, an answer, or a word on what to do."""
        word, _, rest = message.text.strip().partition(" ")
        if message.choice:
            return self._reply(message, "That question is over.")
        if word == "/new":
            return self._reply(message, self._new(message))
        if word == "/stop":
            return self._reply(message, self._stop(message))
        if word == "/report":
            return self._report(message, rest.strip() or ".md")
        if word in {"/start", "/help"}:
            return self._reply(message, _HELP)
        if message.text.strip():
            return self._answer(message)
        if message.quoted or message.files:
            return self._reply(message, "What do you want to know about it?", state=HELD)
        return self._reply(message, _HELP)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._say(f"{self._name}: {type(error).__name__}: {error}")

    async def _refuse(self, message: Inbound) -> None:
        """Refuse a stranger: once with a word where one is set, else in silence."""
        who = sha256(message.sender.encode()).hexdigest()[:24]
        if self._inbox.note(f"refused {who}"):
            return
        self._inbox.keep(f"refused {who}", "yes")
        named = f" ({message.name})" if message.name else ""
        self._say(f"{self._name}: refused {message.sender}{named}, who is not on its allow-list")
        if self._settings.refuse:
            with suppress(ResearchError, BrowserError):
                await self._channel.send(message.thread, Outbound(self._settings.refuse))

    def _answers(self, message: Inbound) -> bool:
        """Say whether a message is what a run waits for."""
        asked = self._asked.get((message.thread, message.sender))
        if asked is None or asked.said.done():
            return False
        if message.choice:
            return message.choice.partition(":")[0] == asked.code
        return bool(message.text.strip()) and not message.text.startswith("/")

    async def _ask(self, message: Inbound, text: str, *, words: bool) -> str:
        """Ask the person in the thread; gives their answer, or nothing after ten minutes."""
        code = secrets.token_hex(4)
        said: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._asked[message.thread, message.sender] = asked = _Asked(code, said)
        buttons = () if words else tuple((f"{code}:{name}", label) for name, label in _BUTTONS)
        try:
            await self._channel.send(message.thread, Outbound(text, buttons, id=code), message.id)
            async with asyncio.timeout(_PATIENCE_S):
                return await said
        except (TimeoutError, ResearchError, BrowserError) as error:
            self._say(f"{self._name}: a question was not answered: {error or 'ten minutes'}")
            return ""
        finally:
            if self._asked.get((message.thread, message.sender)) is asked:
                del self._asked[message.thread, message.sender]

    async def _answer(self, message: Inbound) -> None:
        """Answer a question; one whose answer stands already is only sent."""
        async with self._turns[message.sender], self._slots:
            if not self._inbox.laid_out(message.id):
                over = self._over_budget(message)
                if over:
                    self._inbox.lay_out(message.id, [Part(0, over)])
                else:
                    await self._work(message)
        await self._deliver(message)

    async def _work(self, message: Inbound) -> None:
        showing = asyncio.ensure_future(self._show_busy(message.thread))
        try:
            report = await self._researched(message)
        except ResearchError as error:  # a setting that does not hold: nothing was begun
            self._inbox.lay_out(message.id, [Part(0, f"That failed: {error}. {error.hint}")])
            return
        finally:
            showing.cancel()
        self._inbox.spent(message.id, report.usage.usd)
        self._inbox.lay_out(message.id, self._parts(report))

    def _parts(self, report: Report) -> list[Part]:
        text, attach = answer_text(report), tuple(self._settings.attach)
        if self._channel.whole:
            return [Part(0, text, attach)]
        pieces, more = split_answer(text, self._channel.longest)
        files = attach or ((".md",) if more else ())
        parts = [Part(n, piece) for n, piece in enumerate(pieces)]
        return [*parts, *(Part(len(parts) + n, "", (end,)) for n, end in enumerate(files))]

    def _over_budget(self, message: Inbound) -> str:
        usd, questions = self._spent(message.sender)
        if questions >= self._settings.questions_day:
            return f"That was your question number {questions} today, which is the limit."
        if usd >= self._settings.budget_day:
            return f"You have used ${usd:.2f} today, which is the limit."
        return ""

    def _spent(self, sender: str) -> tuple[float, int]:
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return self._inbox.spent_since(sender, midnight.timestamp())

    async def _researched(self, message: Inbound) -> Report:
        """Run the question, or go on with the run that was cut off; gives the report at once.

        The jobs behind the answer go on by themselves.
        """
        loop = asyncio.get_running_loop()
        report: asyncio.Future[Report] = loop.create_future()

        def ended(found: Report) -> None:
            if not report.done():
                report.set_result(found)

        def note(event: Event) -> None:  # from whichever thread writes the record
            if event.type == "run.started":
                loop.call_soon_threadsafe(self._inbox.began, message.id, event.data["run"])
            elif event.type == "run.finished":
                loop.call_soon_threadsafe(ended, Report(**event.data["report"]))

        run = asyncio.ensure_future(await self._run(message, note))
        self._running[message.thread] = message.sender, run
        self._tasks.add(run)
        run.add_done_callback(self._tasks.discard)
        try:
            await asyncio.wait({run, report}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            run.cancel()
            await asyncio.wait([run])
            raise
        finally:
            self._running.pop(message.thread, None)
        if report.done():
            return report.result()
        if run.cancelled():  # by /stop
            await asyncio.sleep(0)  # what the record called for comes first
            return (
                report.result()
                if report.done()
                else Report(run="", question=message.text, status="partial")
            )
        found: Report = run.result()
        return found

    async def _run(
        self, message: Inbound, note: Callable[[Event], None]
    ) -> Coroutine[Any, Any, Report]:
        declined = False
        turn = asyncio.Lock()  # steps that are made together may ask together

        async def approve(effect: str) -> bool | str:
            """Ask for a yes; after a no the run asks for no other: a chat is no terminal."""
            nonlocal declined
            async with turn:
                if declined:
                    return False
                said = (await self._ask(message, f"May I do this: {effect}?", words=False)).strip()
                declined = said != "site" and said.lower() not in _YES
                return "site" if said == "site" else not declined

        async def ask(question: str) -> str:
            async with turn:
                return await self._ask(message, question, words=True)

        if begun := self._inbox.run_of(message.id):
            with suppress(UsageError):  # a run that was deleted meanwhile is begun anew
                folder = Runs(self._data).find(begun)
                if folder.report.is_file():
                    report = Report.model_validate_json(folder.report.read_bytes())
                    if report.status in FINAL:
                        return _given(report)
                return resume_run(folder, data_dir=self._data, ask=ask, on_event=note)
        flags = {**self._settings.run}
        left = self._settings.budget_day - self._spent(message.sender)[0]
        flags["budget"] = min(left, flags.get("budget", left))
        own = self._settings.namespace or f"{self._name}-{message.sender}"
        flags |= {"session": self._session(message.thread), "namespace": own}
        flags |= {"data_dir": self._data, "file": await self._files(message)}
        return research(
            message.text.strip(), on_event=note, approve=approve, ask=ask, config=True, **flags
        )

    def _new(self, message: Inbound) -> str:
        key = f"conversation {message.thread}"
        self._inbox.keep(key, str(int(self._inbox.note(key) or "1") + 1))
        return "A new conversation begins."

    def _stop(self, message: Inbound) -> str:
        sender, run = self._running.get(message.thread, ("", None))
        if run is None or sender != message.sender:
            return "I am at nothing here."
        run.cancel()
        return "Stopped."

    def _session(self, thread: str) -> str:
        number = self._inbox.note(f"conversation {thread}") or "1"
        return f"{self._name} {thread} {number}"

    async def _files(self, message: Inbound) -> list[Path]:
        """Write down others' words, and files, of this message and those sent ahead of it."""
        folder = self._data / "channels" / sha256(f"{self._name} {message.id}".encode()).hexdigest()
        found: list[Attachment] = []
        for one in [*self._inbox.held(message), message]:
            if one.quoted:
                found.append(Attachment("quoted.txt", one.quoted.encode()))
            for file in one.files[:_MOST_FILES]:
                try:
                    found.append(await self._channel.fetch(file))
                except (ResearchError, BrowserError) as error:
                    raise NotSent(f"a file did not come: {error}") from error
        paths = []
        for n, attachment in enumerate(found):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = folder / f"{n}-{_file_name(attachment.name)}"
            write_atomic(path, attachment.body, private=True)
            paths.append(path)
        return paths

    async def _show_busy(self, thread: str) -> None:
        while True:
            with suppress(ResearchError, BrowserError):  # an ornament
                await self._channel.busy(thread)
            await asyncio.sleep(_BUSY_S)

    async def _reply(self, message: Inbound, text: str, state: str = DONE) -> None:
        self._inbox.lay_out(message.id, [Part(0, text)])
        await self._deliver(message, state)

    async def _report(self, message: Inbound, ending: str) -> None:
        end = ending if ending.startswith(".") else f".{ending}"
        last = self._inbox.last_run(message.thread)
        try:
            if not last:
                raise UsageError("there is no answer in this conversation yet")
            if writer(Path(f"report{end}")) is None:
                raise UsageError(f"{end} is no form of report")
            Runs(self._data).find(last)
            part = Part(0, "", (end,))
            self._inbox.began(message.id, last)
        except UsageError as error:
            part = Part(0, f"That does not go: {error}.")
        self._inbox.lay_out(message.id, [part])
        await self._deliver(message)

    async def _deliver(self, message: Inbound, state: str = DONE) -> None:
        """Send what is laid out and not sent, each part once, waiting where the service is away."""
        for part in self._inbox.parts(message.id, UNKNOWN):
            self._say(f"{self._name}: whether part {part.n + 1} of an answer was sent is unknown")
        for part in self._inbox.parts(message.id):
            await self._deliver_part(message, part)
        self._inbox.mark(message.id, state)

    async def _deliver_part(self, message: Inbound, part: Part) -> None:
        attempt = 0
        run = self._inbox.run_of(message.id)
        while True:
            self._inbox.mark_part(message.id, part.n, TRYING)
            try:
                files = await asyncio.to_thread(self._exported, run, part.export)
                name = sha256(f"{self._name} {message.id} {part.n}".encode()).hexdigest()[:24]
                out = Outbound(part.text, files=files, id=name)
                await self._channel.send(message.thread, out, message.id)
            except ConnectFailed as error:
                self._inbox.mark_part(message.id, part.n, WAITING)
                if not attempt:
                    self._say(f"{self._name}: an answer waits for the service: {error}")
                await asyncio.sleep(backoff_delay(attempt, self._again))
                attempt += 1
            except (ResearchError, BrowserError) as error:
                self._inbox.mark_part(message.id, part.n, FAILED)
                self._say(f"{self._name}: part {part.n + 1} of an answer was not sent: {error}")
                return
            else:
                self._inbox.mark_part(message.id, part.n, SENT)
                return

    def _exported(self, run: str, endings: tuple[str, ...]) -> tuple[Attachment, ...]:
        """Make files of a run; raises `UsageError` where it is gone, or has no such form."""
        made = []
        for end in endings:
            folder = Runs(self._data).find(run)
            write = writer(Path(f"report{end}"))
            if write is None:
                raise UsageError(f"{end} is no form of report")
            made.append(Attachment.named(f"report-{folder.id}{end}", write(folder.path)))
        return tuple(made)


async def _given(report: Report) -> Report:
    return report


def _file_name(name: str) -> str:
    """Keep of a name what is harmless in any folder: letters and digits, and its ending."""
    path = Path(name.replace("\\", "/").rpartition("/")[2])
    stem = "".join(c if c.isalnum() else "-" for c in path.stem)[:60].strip("-") or "file"
    end = "".join(c for c in path.suffix if c.isalnum() and c.isascii())[:10]
    return f"{stem}.{end}" if end else stem
