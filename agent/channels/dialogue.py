"""A channel's dialogue: each message is a command, a reply to a run, or a new run.

Only senders on the allow list get answers; they are treated as the user. Forwarded or quoted text
and attached files may come from other people, so runs treat them as untrusted files.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.channels.answer_text import answer_text, split_answer
from agent.channels.channel import Outbound
from agent.channels.inbox import DONE, FAILED, HELD, SENT, TRYING, UNKNOWN, WAITING, Part
from agent.errors import NotSent, ResearchError, UsageError
from agent.export import writer
from agent.journal.runs import Runs
from agent.notify.notice import Attachment
from agent.run.research import StartedRun, research
from agent.run.resume import resume_run
from agent.types import FINAL_STATUSES, Report, format_usd
from browser.errors import BrowserError, ConnectFailed
from browser.files import write_atomic
from browser.retries import CHANNEL, TemporaryFailure, repeat

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from agent.channels.channel import Channel, ChannelSettings, Inbound
    from agent.channels.inbox import Inbox
    from agent.journal.events import Event
    from agent.journal.runs import RunFolder

MAX_PARALLEL_RUNS = 2
"""Maximum number of parallel runs per channel; a sender's runs are executed one after another."""
_REPLY_TIMEOUT_S = 600.0
"""Seconds that a run waits for the user's reply."""
_TYPING_INTERVAL_S = 8.0  # seconds; messengers show "typing" for 5 to 10
_MAX_FILES = 8  # files per message; each becomes part of the prompt
_HELP_TEXT = (
    "Ask a question, and I will find an answer with sources.\n"
    "/report .pdf sends the last answer as a file (.md .html .docx …), /new starts a new "
    "conversation, /stop stops the current run."
)
_YES_WORDS = {"yes", "y", "ja", "oui", "sí", "si", "ok"}
_APPROVAL_BUTTONS = (("yes", "Yes"), ("site", "Yes, everything on this site"), ("no", "No"))


@dataclass(slots=True)
class _UserQuestion:
    """A question from a run to the user, answered with a button or a text reply."""

    code: str
    reply: asyncio.Future[str] = field(repr=False)


class Dialogue:
    """One channel's conversations; `live` returns its current settings."""

    def __init__(
        self,
        name: str,
        channel: Channel,
        inbox: Inbox,
        live: Callable[[], ChannelSettings],
        data: Path,
    ) -> None:
        self._name = name
        self._channel = channel
        self._live = live
        self._inbox = inbox
        self._data = data
        self._say = channel.link.report
        self._runs = Runs(data)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._slots = asyncio.Semaphore(MAX_PARALLEL_RUNS)
        self._questions: dict[tuple[str, str], _UserQuestion] = {}
        self._running: dict[str, tuple[str, asyncio.Future[Any]]] = {}
        self._tasks: set[asyncio.Future[Any]] = set()

    @property
    def _settings(self) -> ChannelSettings:
        return self._live()

    def resume(self) -> None:
        """Answer the messages that were unanswered when the last process ended."""
        for message in self._inbox.waiting():
            self._start(self._answer(message))

    async def close(self) -> None:
        """Stop all runs, which are resumed at the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._task_done)

    def _task_done(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._say(f"{self._name}: {type(error).__name__}: {error}")

    # Messages

    async def handle(self, message: Inbound) -> None:
        """Handle an incoming message; it is on disk when this returns."""
        if message.sender not in self._settings.allow:
            await self._refuse(message)
            return
        is_reply = self._is_reply(message)
        if not self._inbox.add(message, DONE if is_reply else WAITING):
            return
        if is_reply:
            question = self._questions.pop((message.thread, message.sender))
            question.reply.set_result(message.choice.partition(":")[2] or message.text)
            return
        self._start(self._dispatch(message))

    async def _refuse(self, message: Inbound) -> None:
        """Refuse an unknown sender, either silently or once with the configured text."""
        # the only thing stored about unknown senders is that they were refused
        who = sha256(message.sender.encode()).hexdigest()[:24]
        if self._inbox.get(f"refused {who}"):
            return
        self._inbox.set(f"refused {who}", "yes")
        named = f" ({message.name})" if message.name else ""
        self._say(f"{self._name}: refused {message.sender}{named}, not on the allow list")
        if self._settings.refuse:
            with suppress(ResearchError, BrowserError):
                await self._channel.send(message.thread, Outbound(self._settings.refuse))

    def _is_reply(self, message: Inbound) -> bool:
        """Return whether a message is the reply that a run is waiting for."""
        question = self._questions.get((message.thread, message.sender))
        if question is None or question.reply.done():
            return False
        if message.choice:
            return message.choice.partition(":")[0] == question.code
        return bool(message.text.strip()) and not message.text.startswith("/")

    def _dispatch(self, message: Inbound) -> Coroutine[Any, Any, None]:
        """Return the coroutine that handles a message: a command, a question or a help request."""
        reply = self._reply
        word, _, rest = message.text.strip().partition(" ")
        if message.choice:
            return reply(message, "That question is no longer open.")
        if word == "/new":
            key = f"conversation {message.thread}"
            self._inbox.set(key, str(int(self._inbox.get(key) or "1") + 1))
            return reply(message, "Started a new conversation.")
        if word == "/stop":
            sender, run = self._running.get(message.thread, ("", None))
            if run is None or sender != message.sender:
                return reply(message, "Nothing is running in this conversation.")
            run.cancel()
            return reply(message, "Stopped.")
        if word == "/report":
            return self._send_report(message, rest.strip() or ".md")
        if message.text.strip() and word not in {"/start", "/help"}:
            return self._answer(message)
        if not word and (message.quoted or message.files):
            return reply(message, "What would you like to know about it?", HELD)
        return reply(message, _HELP_TEXT)

    async def _send_report(self, message: Inbound, ending: str) -> None:
        """Send the thread's last answer as a file."""
        last = self._inbox.last_run(message.thread)
        try:
            if not last:
                raise UsageError("this conversation has no answer yet")
            dotted = ending if ending.startswith(".") else f".{ending}"
            writer(Path(f"report{dotted}"))
            self._runs.find(last)
            part = Part(0, "", (dotted,))
            self._inbox.update(message.id, run=last)
        except UsageError as error:
            part = Part(0, f"Cannot send the report: {error}.")
        self._inbox.put_parts(message.id, [part])
        await self._deliver(message)

    # Answers

    async def _answer(self, message: Inbound) -> None:
        """Answer a question; if the answer is already stored, only send it."""
        async with self._turns[message.sender], self._slots:
            if not self._inbox.is_answered(message.id):
                over = self._budget_refusal(message.sender)
                parts = [Part(0, over)] if over else await self._research(message)
                self._inbox.put_parts(message.id, parts)
        await self._deliver(message)

    def _budget_refusal(self, sender: str) -> str:
        usd, questions = self._spent_today(sender)
        if questions >= self._settings.questions_day:
            return f"You have reached today's limit of {questions} questions."
        if usd >= self._settings.budget_day:
            return f"You have reached today's budget: {format_usd(usd)} spent."
        return ""

    def _spent_today(self, sender: str) -> tuple[float, int]:
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return self._inbox.spent_since(sender, midnight.timestamp())

    async def _research(self, message: Inbound) -> list[Part]:
        """Run the question; return its answer or error, split into parts."""
        showing = asyncio.ensure_future(self._show_busy(message.thread))
        try:
            report = await self._first_report(message)
        except ResearchError as error:  # a setting is invalid, so no run was started
            return [Part(0, f"The run failed: {error}. {error.hint}")]
        finally:
            showing.cancel()
        self._inbox.update(message.id, usd=report.usage.usd)
        return self._report_parts(report)

    async def _show_busy(self, thread: str) -> None:
        while True:
            with suppress(ResearchError, BrowserError):  # the typing indicator is not essential
                await self._channel.busy(thread)
            await asyncio.sleep(_TYPING_INTERVAL_S)

    async def _first_report(self, message: Inbound) -> Report:
        """Run the question; return the report as soon as it is in the journal."""

        def note_start(event: Event) -> None:
            if event.type == "run.started":
                self._inbox.update(message.id, run=event.data["run"])

        run = StartedRun(partial(self._run, message), note_start)
        self._running[message.thread] = message.sender, run.task
        self._tasks.add(run.task)
        run.task.add_done_callback(self._tasks.discard)
        try:
            return await run.report()
        finally:
            self._running.pop(message.thread, None)

    async def _run(self, message: Inbound, *, on_event: Callable[[Event], None]) -> Report:
        """Run the question, or resume its interrupted run."""
        approved: bool | str | None = True  # the last reply to a request for approval
        turn = asyncio.Lock()  # parallel steps may ask at the same time

        async def approve(effect: str) -> bool | str | None:
            """Ask for approval; after a refusal, or without a reply, do not ask again."""
            nonlocal approved
            async with turn:
                if approved:
                    question = f"May I {effect}?"
                    reply = (await self._ask_user(message, question, buttons=True)).strip()
                    approved = None
                    if reply:
                        approved = reply if reply == "site" else reply.lower() in _YES_WORDS
                return approved

        async def ask(question: str) -> str:
            async with turn:
                return await self._ask_user(message, question)

        if (folder := self._find_started_run(message)) is not None:
            if folder.report.is_file():
                report = Report.model_validate_json(folder.report.read_bytes())
                if report.status in FINAL_STATUSES:
                    return report
            return await resume_run(folder, data_dir=self._data, ask=ask, on_event=on_event)
        flags = {**self._settings.run}
        left = self._settings.budget_day - self._spent_today(message.sender)[0]
        conversation = self._inbox.get(f"conversation {message.thread}") or "1"
        flags |= {
            "budget": min(left, flags.get("budget", left)),
            "session": f"{self._name} {message.thread} {conversation}",
            "namespace": self._settings.namespace or f"{self._name}-{message.sender}",
            "data_dir": self._data,
            "file": await self._save_files(message),
        }
        return await research(
            message.text.strip(), on_event=on_event, approve=approve, ask=ask, config=True, **flags
        )

    def _find_started_run(self, message: Inbound) -> RunFolder | None:
        begun = self._inbox.run_of(message.id)
        try:
            return self._runs.find(begun) if begun else None
        except UsageError:  # the run was deleted in the meantime: start again
            return None

    async def _ask_user(self, message: Inbound, text: str, *, buttons: bool = False) -> str:
        """Ask the user in the thread; return the reply, or an empty string after ten minutes."""
        code, key = secrets.token_hex(4), (message.thread, message.sender)
        reply: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._questions[key] = question = _UserQuestion(code, reply)
        shown = (
            tuple((f"{code}:{name}", label) for name, label in _APPROVAL_BUTTONS) if buttons else ()
        )
        try:
            await self._channel.send(message.thread, Outbound(text, shown, id=code), message.id)
            async with asyncio.timeout(_REPLY_TIMEOUT_S):
                return await reply
        except (TimeoutError, ResearchError, BrowserError) as error:
            self._say(f"{self._name}: no reply to a question: {error or 'waited ten minutes'}")
            return ""
        finally:
            if self._questions.get(key) is question:
                del self._questions[key]

    async def _save_files(self, message: Inbound) -> list[Path]:
        """Save quoted text and files from this message and from the messages sent before it."""
        files: list[Attachment] = []
        for one in [*self._inbox.take_held(message), message]:
            if one.quoted:
                files.append(Attachment("quoted.txt", one.quoted.encode()))
            for file in one.files[:_MAX_FILES]:
                try:
                    files.append(await self._channel.fetch(file))
                except (ResearchError, BrowserError) as error:
                    raise NotSent(f"could not download a file: {error}") from error
        folder = self._data / "channels" / sha256(f"{self._name} {message.id}".encode()).hexdigest()
        paths = []
        for n, attachment in enumerate(files):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = folder / f"{n}-{_safe_name(attachment.name)}"
            write_atomic(path, attachment.body, private=True)
            paths.append(path)
        return paths

    # Delivery: parts are sent once, in order, and wait while the service is unavailable.

    async def _reply(self, message: Inbound, text: str, state: str = DONE) -> None:
        """Send a text reply to a message."""
        self._inbox.put_parts(message.id, [Part(0, text)])
        await self._deliver(message, state)

    def _report_parts(self, report: Report) -> list[Part]:
        """Split a report into messages and files that the channel can send."""
        text, attach = answer_text(report), tuple(self._channel.settings.attach)
        if self._channel.single_message:
            return [Part(0, text, attach)]
        pieces, more = split_answer(text, self._channel.max_message_length)
        files = attach or ((".md",) if more else ())
        contents = [*((piece, ()) for piece in pieces), *(("", (ending,)) for ending in files)]
        return [Part(n, piece, export) for n, (piece, export) in enumerate(contents)]

    async def _deliver(self, message: Inbound, state: str = DONE) -> None:
        """Send the unsent parts, then set the state of the message."""
        for part in self._inbox.parts(message.id, UNKNOWN):
            self._say(f"{self._name}: part {part.n + 1} of an answer may or may not have been sent")
        for part in self._inbox.parts(message.id):
            await self._send_part(message, part)
        self._inbox.update(message.id, state=state)

    async def _send_part(self, message: Inbound, part: Part) -> None:
        run, waits = self._inbox.run_of(message.id), False
        name = sha256(f"{self._name} {message.id} {part.n}".encode()).hexdigest()[:24]

        async def attempt() -> None:
            nonlocal waits
            # stored first: after a crash, it is unknown whether the service received the part
            self._inbox.mark_part(message.id, part.n, TRYING)
            try:
                files = await asyncio.to_thread(self._export, run, part.export)
                outbound = Outbound(part.text, files=files, id=name)
                await self._channel.send(message.thread, outbound, message.id)
            except ConnectFailed as error:  # nothing was sent, so retry
                self._inbox.mark_part(message.id, part.n, WAITING)
                if not waits:
                    self._say(f"{self._name}: service unavailable, will retry: {error}")
                waits = True
                raise TemporaryFailure(error) from error

        try:
            await repeat(CHANNEL, attempt)
        except (ResearchError, BrowserError) as error:
            self._inbox.mark_part(message.id, part.n, FAILED)
            self._say(f"{self._name}: part {part.n + 1} of an answer was not sent: {error}")
        else:
            self._inbox.mark_part(message.id, part.n, SENT)

    def _export(self, run: str, endings: tuple[str, ...]) -> tuple[Attachment, ...]:
        """Export a run as files; raises `UsageError` if the run or the format does not exist."""
        files = []
        for ending in endings:
            folder = self._runs.find(run)
            name = f"report-{folder.id}{ending}"
            files.append(Attachment.from_bytes(name, writer(Path(name))(folder.path)))
        return tuple(files)


def _safe_name(name: str) -> str:
    """Reduce a name to characters that are safe in file names: letters, digits and extension."""
    path = Path(name.replace("\\", "/").rpartition("/")[2])
    stem = "".join(c if c.isalnum() else "-" for c in path.stem)[:60].strip("-") or "file"
    end = "".join(c for c in path.suffix if c.isalnum() and c.isascii())[:10]
    return f"{stem}.{end}" if end else stem
