"""Loopback SMTP and IMAP servers."""

from __future__ import annotations

import asyncio
import email
import re
from contextlib import asynccontextmanager
from email import policy
from typing import TYPE_CHECKING, Any

from aiosmtpd.smtp import SMTP, AuthResult

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator
    from email.message import EmailMessage


class MailBox:
    """What an SMTP server accepted; `refuse` holds replies to recipients before it accepts one."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.refuse: list[str] = []
        self.logins: list[tuple[bytes, bytes]] = []
        self.tls: list[bool] = []

    async def handle_RCPT(self, server, session, envelope, address, options) -> str:  # noqa: N802 - aiosmtpd's
        if self.refuse:
            return self.refuse.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope) -> str:  # noqa: N802 - aiosmtpd's
        parsed: Any = email.message_from_bytes(envelope.content, policy=policy.default)
        parsed["X-Rcpt"] = ", ".join(envelope.rcpt_tos)
        self.mails.append(parsed)
        self.tls.append(session.ssl is not None)
        return "250 taken"

    def login(self, server, session, envelope, mechanism, data) -> AuthResult:
        self.logins.append((data.login, data.password))
        return AuthResult(success=data.password == b"correct horse", handled=False)

    @asynccontextmanager
    async def served(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
        """Serve on loopback; with `tls` only over STARTTLS and after login."""
        secure = {"authenticator": self.login, "auth_required": True, "tls_context": tls}
        secure |= {"require_starttls": True}

        def made() -> SMTP:
            return SMTP(self, hostname="mail.test", **(secure if tls else {}))

        server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
        async with server:
            yield server.sockets[0].getsockname()[1]


class ImapServer:
    """A mailbox with UIDs; `cuts` is the number of connections dropped at their first command."""

    def __init__(self) -> None:
        self.mails: dict[int, bytes] = {}
        self.password = "correct horse"
        self.cuts = 0
        self.looks = 0
        self.wrote: list[str] = []

    def put(self, mail: bytes) -> None:
        self.mails[max(self.mails, default=0) + 1] = mail

    @asynccontextmanager
    async def served(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"* OK IMAP4rev1 ready\r\n")
        try:
            while line := (await reader.readline()).decode().strip():
                tag, _, command = line.partition(" ")
                if self.cuts and not command.startswith("CAPABILITY"):
                    self.cuts -= 1
                    break
                for answer in self._answers(tag, command):
                    writer.write(answer)
                await writer.drain()
        except ConnectionError:
            pass
        writer.close()

    def _answers(self, tag: str, command: str) -> list[bytes]:
        word = command.upper().partition(" ")[0]
        done = f"{tag} OK done\r\n".encode()
        if word == "CAPABILITY":
            return [b"* CAPABILITY IMAP4rev1\r\n", done]
        if word == "LOGIN":
            right = self.password in command
            return [done if right else f"{tag} NO wrong password\r\n".encode()]
        if word == "EXAMINE":
            self.looks += 1
            count = f"* {len(self.mails)} EXISTS\r\n* OK [UIDVALIDITY 7] fixed\r\n".encode()
            return [count, f"{tag} OK [READ-ONLY] done\r\n".encode()]
        if command.upper().startswith("UID SEARCH"):
            from_uid = int((re.findall(r"UID (\d+):", command) or ["1"])[0])
            found = [uid for uid in self.mails if uid >= from_uid] or [max(self.mails, default=0)]
            found = [uid for uid in found if uid]  # `n:*` always includes the last one
            return [f"* SEARCH {' '.join(map(str, found))}\r\n".encode(), done]
        if command.upper().startswith("UID FETCH"):
            uid = int(command.split()[2])
            body = self.mails[uid]
            head = f"* {uid} FETCH (UID {uid} BODY[]<0> {{{len(body)}}}\r\n".encode()
            return [head, body, b")\r\n", done]
        if word == "LOGOUT":
            return [b"* BYE\r\n", done]
        self.wrote.append(command)
        return [f"{tag} BAD\r\n".encode()]
