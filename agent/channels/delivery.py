"""Delivery of answers: parts are sent once, in order, and wait where their service is away."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from agent.channels.answer_text import answer_text, split_answer
from agent.channels.channel import Outbound
from agent.channels.inbox import DONE, FAILED, SENT, TRYING, UNKNOWN, WAITING, Part
from agent.errors import ResearchError, UsageError
from agent.export import writer
from agent.notify.notice import Attachment
from agent.notify.service_client import backoff_delay
from browser.errors import BrowserError, ConnectFailed

if TYPE_CHECKING:
    from agent.channels.channel import Channel, Inbound
    from agent.channels.inbox import Inbox
    from agent.journal.runs import Runs
    from agent.types import Report


class AnswerDelivery:
    """Sends the answers of one channel."""

    def __init__(self, name: str, channel: Channel, inbox: Inbox, runs: Runs) -> None:
        self._name = name
        self._channel = channel
        self._inbox = inbox
        self._runs = runs
        self._say = channel.link.say

    async def reply(self, message: Inbound, text: str, state: str = DONE) -> None:
        """Answer a message with a text."""
        self._inbox.put_parts(message.id, [Part(0, text)])
        await self.deliver(message, state)

    def report_parts(self, report: Report) -> list[Part]:
        """Cut a report into the messages and files that the channel can carry."""
        text, attach = answer_text(report), tuple(self._channel.settings.attach)
        if self._channel.whole:
            return [Part(0, text, attach)]
        pieces, more = split_answer(text, self._channel.longest)
        files = attach or ((".md",) if more else ())
        contents = [*((piece, ()) for piece in pieces), *(("", (ending,)) for ending in files)]
        return [Part(n, piece, export) for n, (piece, export) in enumerate(contents)]

    def export_part(self, run: str, ending: str) -> Part:
        """Make a part of an export of a run; raises `UsageError` where there is none."""
        if writer(Path(f"report{ending}")) is None:
            raise UsageError(f"{ending} is no form of report")
        self._runs.find(run)
        return Part(0, "", (ending,))

    async def deliver(self, message: Inbound, state: str = DONE) -> None:
        """Send the parts that were not sent; then the message is in this state."""
        for part in self._inbox.parts(message.id, UNKNOWN):
            self._say(f"{self._name}: whether part {part.n + 1} of an answer was sent is unknown")
        for part in self._inbox.parts(message.id):
            await self._send_part(message, part)
        self._inbox.update(message.id, state=state)

    async def _send_part(self, message: Inbound, part: Part) -> None:
        run, attempt = self._inbox.run_of(message.id), 0
        name = sha256(f"{self._name} {message.id} {part.n}".encode()).hexdigest()[:24]
        while True:
            # on disk first: after a kill nobody can tell whether the service got it
            self._inbox.mark_part(message.id, part.n, TRYING)
            try:
                files = await asyncio.to_thread(self._export, run, part.export)
                outbound = Outbound(part.text, files=files, id=name)
                await self._channel.send(message.thread, outbound, message.id)
            except ConnectFailed as error:  # nothing was sent: it can be tried again
                self._inbox.mark_part(message.id, part.n, WAITING)
                if not attempt:
                    self._say(f"{self._name}: an answer waits for the service: {error}")
                await asyncio.sleep(backoff_delay(attempt))
                attempt += 1
            except (ResearchError, BrowserError) as error:
                self._inbox.mark_part(message.id, part.n, FAILED)
                self._say(f"{self._name}: part {part.n + 1} of an answer was not sent: {error}")
                return
            else:
                self._inbox.mark_part(message.id, part.n, SENT)
                return

    def _export(self, run: str, endings: tuple[str, ...]) -> tuple[Attachment, ...]:
        """Export a run as files; raises `UsageError` where it is gone, or there is no such form."""
        files = []
        for ending in endings:
            folder = self._runs.find(run)
            write = writer(Path(f"report{ending}"))
            if write is None:
                raise UsageError(f"{ending} is no form of report")
            name = f"report-{folder.id}{ending}"
            files.append(Attachment.from_bytes(name, write(folder.path)))
        return tuple(files)
