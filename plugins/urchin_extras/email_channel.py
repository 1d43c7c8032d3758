"""E-mail: receives questions by IMAP and answers by SMTP; each thread is a conversation.

Anyone can forge an e-mail's sender. Only messages whose sender our own mail server has verified are
answered (RFC 8601: `Authentication-Results`, dmarc=pass); see `mail_reading`.
"""

from __future__ import annotations

import asyncio
import imaplib
import re
import ssl
from contextlib import contextmanager
from email.message import EmailMessage
from email.utils import make_msgid
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote, urlsplit

from pydantic import Field, field_validator

from agent.channels.channel import Channel, ChannelSettings, Inbound, Outbound
from agent.errors import NotSent, UsageError
from agent.notify.mail_sender import MailServer, attach, parse_address, send_mail
from agent.notify.notice import Attachment
from browser.errors import ConnectFailed
from browser.net.dial import tunnel
from browser.net.transport import certificates
from urchin_extras.mail_reading import (
    is_authentic,
    is_forward,
    parse_mail,
    sender_address,
    split_quotes,
)

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from agent.channels.channel import MessageHandler

_TIMEOUT_S = 30.0  # seconds to wait for each response from the mail server
_MAX_MESSAGE_BYTES = 20 * 1024 * 1024  # mail providers limit messages to 25 MB
_IDS = re.compile(r"<[^<>\s]+>")
_PORTS = {"imaps": 993, "imap": 143}
_UNVERIFIED_THREAD = "<stranger>"


class EmailSettings(ChannelSettings):
    """`imap` and `smtp` are addresses such as `imaps://you%40example.org@mail.example.org`.

    `authserv` is the name that our server writes in `Authentication-Results`; `any_sender` means
    that nobody else can deliver to this mailbox, so senders are not verified.
    """

    imap: str
    smtp: str
    folder: str = "INBOX"
    every: float = Field(30.0, gt=0)
    authserv: str = ""
    any_sender: bool = False
    attach: tuple[str, ...] = (".md",)

    @field_validator("allow")
    @classmethod
    def _lower(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(value.lower() for value in values)


class Email(Channel):
    """A dedicated mailbox. A sender is an address; a thread is its first message's Message-ID."""

    Settings: ClassVar[type[ChannelSettings]] = EmailSettings
    keys: ClassVar[dict[str, str]] = {"imap": "IMAP_PASSWORD", "smtp": "SMTP_PASSWORD"}
    single_message = True
    max_message_length = 1_000_000

    @classmethod
    def private_addresses(cls, settings: Any) -> tuple[str, ...]:
        """Return the addresses of both servers, with their ports."""
        found = []
        for url, ports in ((settings.imap, _PORTS), (settings.smtp, {"smtp": 587, "smtps": 465})):
            parts = urlsplit(url)
            if parts.scheme not in ports or not parts.hostname:
                raise UsageError(
                    f"{url!r} is not a mail server address", hint="See docs/channels.md."
                )
            found.append(f"http://{parts.hostname}:{parts.port or ports[parts.scheme]}")
        return tuple(found)

    async def listen(self, handle: MessageHandler) -> None:
        """Poll for new messages, ignoring those received before the first poll."""
        if not (self.settings.authserv or self.settings.any_sender):
            hint = "Set `authserv` to the server name in your mail's Authentication-Results header."
            raise UsageError("forged senders cannot be detected", hint=hint)
        while True:
            seen = self.link.notes.get("seen")
            begun, found = await asyncio.to_thread(self._new_mails, seen)
            if begun != seen:
                self.link.notes.set("seen", begun)
            for number, body in found:
                inbound = self.read(lambda mail: self._message(*mail), (number, body))
                if inbound is not None:
                    await handle(inbound)
                self.link.notes.set("seen", number)
            await asyncio.sleep(self.settings.every)

    async def send(self, thread: str, message: Outbound, answering: str = "") -> None:
        """Reply in a thread: `thread` consists of its first Message-ID and the address."""
        root, _, to = thread.rpartition(" ")
        if root == _UNVERIFIED_THREAD:
            return  # the real sender is unknown, and a forged address must not get an answer
        server = self._server()
        mail = EmailMessage()
        mail["From"], mail["To"] = server.sender, parse_address(to)
        subject = self.link.notes.get(f"subject {root}")
        mail["Subject"] = subject or message.text.split("\n")[0][:120] or "Notice"
        mail["Message-ID"] = make_msgid(message.id or None, server.sender.rpartition("@")[2])
        mail["Auto-Submitted"] = "auto-replied" if root else "auto-generated"
        if root:
            chain = self.link.notes.get(f"chain {root}").split() or [root]
            last = answering.partition(" ")[2] or chain[-1]
            mail["In-Reply-To"] = last
            mail["References"] = " ".join(dict.fromkeys([*chain, last]))
            self.link.notes.set(f"chain {root}", " ".join([*chain, last][-20:]))
        words = "\n".join(
            f"  {label}: reply “{name.partition(':')[2]}”" for name, label in message.buttons
        )
        mail.set_content(
            "\n\n".join(filter(None, (message.text, words))) or "(see the attached file)"
        )
        for file in message.files:
            attach(mail, file)
        await send_mail(mail, server, self.link.proxy_url)

    async def check(self) -> str:
        """Log in to the mailbox and count its messages."""
        count = await asyncio.to_thread(self._count)
        return f"{self._server().sender}, {count} messages in {self.settings.folder}"

    async def fetch(self, file: str) -> Attachment:
        """Return an attachment, identified by the e-mail's number and its own number."""
        number, _, part = file.partition(" ")
        body = await asyncio.to_thread(self._mail, number)
        if body is None:
            raise NotSent("the e-mail no longer exists")
        one: Any = list(parse_mail(body).iter_attachments())[int(part)]
        if one.get_content_type() == "message/rfc822":
            return Attachment("forwarded.eml", one.get_content().as_bytes(), "message/rfc822")
        content = one.get_payload(decode=True) or b""
        return Attachment(one.get_filename() or "file", content, one.get_content_type())

    def _server(self) -> MailServer:
        user = urlsplit(self.settings.smtp).username
        environ = {"SMTP_PASSWORD": self.key("smtp")} if user else {}
        return MailServer.from_url(self.settings.smtp, environ)

    def _message(self, number: str, body: bytes) -> Inbound | None:
        """Parse a message; None if it was sent automatically or its sender may be forged."""
        mail = parse_mail(body)
        automatic = str(mail.get("Auto-Submitted", "no")).lower() != "no"
        if automatic or mail.get("List-Id") or str(mail.get("Precedence", "")).lower() == "bulk":
            return None
        sender = sender_address(mail)
        if not sender:
            self.link.report("ignored an e-mail that does not have exactly one valid sender")
            return None
        if sender not in self.settings.allow:
            return Inbound(number, sender, f"{_UNVERIFIED_THREAD} {sender}")
        if not (self.settings.any_sender or is_authentic(mail, self.settings.authserv, sender)):
            self.link.report(
                f"ignored an e-mail that claims to be from {sender}: {self.settings.authserv} does"
                f" not confirm it (dmarc=pass with header.from={sender.rpartition('@')[2]})"
            )
            return None
        own = next(iter(_IDS.findall(str(mail.get("Message-ID", "")))), f"<{number}@none>")
        before = _IDS.findall(f"{mail.get('References', '')} {mail.get('In-Reply-To', '')}")
        root = next((one for one in before if self.link.notes.get(f"chain {one}")), own)
        chain = self.link.notes.get(f"chain {root}").split() or [root]
        self.link.notes.set(f"chain {root}", " ".join(dict.fromkeys([*chain, own][-20:])))
        subject = " ".join(str(mail.get("Subject", "")).split())
        known = self.link.notes.get(f"subject {root}")
        if not known:
            answer = subject if subject.lower().startswith("re:") else f"Re: {subject}"
            self.link.notes.set(f"subject {root}", answer)
        text, quoted = split_quotes(mail)
        # The sender did not write a forwarded e-mail's subject.
        if not (text or quoted or known or is_forward(mail)):
            text = subject
        files = tuple(f"{number} {n}" for n, _ in enumerate(mail.iter_attachments()))
        return Inbound(f"{number} {own}", sender, f"{root} {sender}", text, quoted, files)

    def _new_mails(self, last: str) -> tuple[str, list[tuple[str, bytes]]]:
        """Return the position to continue from, and newer e-mails with their `UIDVALIDITY.UID`."""
        with self._mailbox() as box:
            seen_in, _, seen = last.partition(".")
            if seen_in != box.validity:
                return f"{box.validity}.{max(map(int, box.uids('ALL')), default=0)}", []
            found = box.uids(f"UID {int(seen) + 1}:*")
            # `N:*` also matches the last e-mail if its number is lower than N.
            new = sorted((uid for uid in found if int(uid) > int(seen)), key=int)
            return last, [(f"{box.validity}.{uid}", box.mail(uid)) for uid in new]

    def _mail(self, number: str) -> bytes | None:
        """Return the e-mail with this `UIDVALIDITY.UID`; None if the mailbox has been recreated."""
        validity, _, uid = number.partition(".")
        with self._mailbox() as box:
            return box.mail(uid) if box.validity == validity else None

    def _count(self) -> int:
        with self._mailbox() as box:
            return len(box.uids("ALL"))

    def _mailbox(self) -> _Mailbox:
        parts = urlsplit(self.settings.imap)
        port = parts.port or _PORTS[parts.scheme]
        assert parts.hostname, "`private_addresses` has checked this"
        connection = tunnel(self.link.proxy_url, parts.hostname, port, timeout=_TIMEOUT_S)
        try:
            with _connection_errors(parts.hostname):
                box = _Mailbox(connection, parts.hostname, secure=parts.scheme == "imaps")
        except ConnectFailed:
            connection.close()
            raise
        try:
            box.enter(unquote(parts.username or ""), self.key("imap"), self.settings.folder)
        except (UsageError, ConnectFailed):
            box.shutdown()
            raise
        return box


@contextmanager
def _connection_errors(where: str) -> Iterator[None]:
    """Raise connection errors as ConnectFailed."""
    try:
        yield
    except (imaplib.IMAP4.error, OSError) as error:
        raise ConnectFailed(f"{where}: {error}") from error


class _Mailbox(imaplib.IMAP4):
    """A read-only folder on a server, accessed over a socket that is already open.

    The e-mails' numbers remain valid as long as the folder's `validity` does not change.
    """

    def __init__(self, connection: socket.socket, host: str, *, secure: bool) -> None:
        self._connection, self._name, self._secure = connection, host, secure
        self.validity = ""
        super().__init__(host)
        if not secure and "STARTTLS" in self.capabilities:
            self.starttls(certificates())

    def open(self, *_: Any, **__: Any) -> None:
        """Use the existing socket instead of opening one."""
        self.sock = self._connection
        if self._secure:
            self.sock = certificates().wrap_socket(self.sock, server_hostname=self._name)
        self.file = self.sock.makefile("rb")

    def enter(self, user: str, password: str, folder: str) -> None:
        """Log in and open a folder. Raises `UsageError` for a wrong user name or password."""
        local = self._name.startswith(("127.", "localhost"))
        if not (isinstance(self.sock, ssl.SSLSocket) or local):
            raise UsageError(
                f"{self._name} would receive the password unencrypted", hint="Use imaps://."
            )
        try:
            self.login(user, password)
            done, reply = self.select(f'"{folder}"', readonly=True)
        except (self.abort, OSError) as error:
            raise ConnectFailed(f"{self._name}: {error}") from error
        except self.error as error:
            hint = "`research keys set IMAP_PASSWORD` stores the password."
            raise UsageError(
                f"{self._name} refused the login of {user}: {error}", hint=hint
            ) from error
        if done != "OK":
            raise UsageError(f"{self._name} has no folder {folder}: {reply!r}")
        validity: Any = self.response("UIDVALIDITY")[1]  # reported once
        self.validity = validity[0].decode() if validity and validity[0] else "0"

    def __exit__(self, *error: object) -> None:
        """Log out, even if the connection is already closed."""
        try:
            self.logout()
        except (OSError, imaplib.IMAP4.error):
            self.shutdown()

    def uids(self, which: str) -> list[str]:
        """Return the numbers of the matching messages. Raises ConnectFailed and NotSent."""
        with _connection_errors("the mailbox"):
            done, found = self.uid("SEARCH", which)
        if done != "OK":
            raise NotSent(f"the mailbox cannot be searched: {found!r}")
        return [one.decode() for part in found if isinstance(part, bytes) for one in part.split()]

    def mail(self, uid: str) -> bytes:
        """Return an e-mail as received, or only its beginning if it is too large."""
        with _connection_errors("the mailbox"):
            _, found = self.uid("FETCH", uid, f"(BODY.PEEK[]<0.{_MAX_MESSAGE_BYTES}>)")
        return next((part[1] for part in found if isinstance(part, tuple)), b"")
