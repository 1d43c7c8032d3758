"""Sends e-mail over SMTP through the guarded proxy: always with TLS, except to this machine."""

from __future__ import annotations

import asyncio
import smtplib
from dataclasses import dataclass, field
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import make_msgid
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from agent.errors import NotSent, UsageError
from browser.errors import ConnectFailed
from browser.net.dial import tunnel
from browser.net.guard import AddressKind, classify
from browser.net.transport import certificates
from browser.retries import SERVICE, TemporaryFailure, repeat

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence

    from agent.notify.notice import Attachment, Notice

PASSWORD = "SMTP_PASSWORD"  # noqa: S105 - the variable's name
_DEFAULT_PORTS = {"smtp": 587, "smtps": 465}
_SMTP_URL_HINT = "Use the format smtps://you@mail.example.org, with the password in SMTP_PASSWORD."
_TIMEOUT_S = 30.0  # seconds per reply from the mail server


@dataclass(frozen=True, slots=True)
class MailServer:
    """An SMTP server; `secure` means TLS from the first byte, otherwise STARTTLS.

    `sender` is the From address.
    """

    host: str
    port: int
    secure: bool
    user: str
    password: str = field(repr=False)
    sender: str

    @classmethod
    def from_url(cls, url: str | None, environ: Mapping[str, str]) -> MailServer:
        """Parse `smtp[s]://user[:password]@host[:port][?from=ADDRESS]`. Raises `UsageError`."""
        if not url:
            raise UsageError("no mail server is configured", hint=f"Set smtp-url. {_SMTP_URL_HINT}")
        try:
            parts = urlsplit(url)
            port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
        except ValueError as error:
            raise UsageError(
                f"smtp-url is not a valid address: {error}", hint=_SMTP_URL_HINT
            ) from error
        if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
            raise UsageError("smtp-url is not the address of a mail server", hint=_SMTP_URL_HINT)
        user = unquote(parts.username or "")
        sender = next(iter(parse_qs(parts.query).get("from", [])), user)
        password = unquote(parts.password or "") or environ.get(PASSWORD, "")
        if user and not password:
            message = f"the password for {user} at {parts.hostname} is not set"
            raise UsageError(message, hint=f"`research keys set {PASSWORD}` stores it.")
        secure = parts.scheme == "smtps"
        return cls(parts.hostname, port, secure, user, password, parse_address(sender))

    @property
    def host_port(self) -> str:
        """Host and port in the guard's format, with IPv6 addresses in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(text: str) -> str:
    """Validate an e-mail address and return it stripped. Raises `UsageError`."""
    try:
        checked = Address(addr_spec=text.strip())
    except (HeaderParseError, ValueError, IndexError):  # all three occur for malformed addresses
        checked = Address()
    if not checked.username or not checked.domain or not text.isprintable():
        raise UsageError(
            f"{text!r} is not an e-mail address", hint="Use a format such as ann@example.org."
        )
    return checked.addr_spec


def build_mail(notice: Notice, sender: str, to: Sequence[str]) -> EmailMessage:
    """Build the e-mail for a notice; its Message-ID contains the notice's id."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, ", ".join(to), notice.subject
    mail["Date"] = notice.at
    mail["Message-ID"] = make_msgid(notice.id, sender.rpartition("@")[2])
    mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: prevents automatic replies
    mail.set_content("\n\n".join(filter(None, (notice.text, notice.url))) or notice.subject)
    for attachment in notice.files:
        attach(mail, attachment)
    return mail


def attach(mail: EmailMessage, file: Attachment) -> None:
    """Attach a file to an e-mail."""
    main, _, sub = file.media_type.partition("/")
    params = {"charset": "utf-8"} if main == "text" else None
    mail.add_attachment(
        file.body, maintype=main, subtype=sub or "octet-stream", filename=file.name, params=params
    )


async def send_mail(mail: EmailMessage, server: MailServer, proxy_url: str) -> None:
    """Send an e-mail; retry if the server cannot be reached or asks for a retry (4xx).

    Raises `NotSent`, `Refused` or `ConnectFailed`.
    """

    async def attempt() -> None:
        try:
            await asyncio.to_thread(_send, mail, server, proxy_url)
        except (ConnectFailed, _TemporaryRefusal) as error:
            raise TemporaryFailure(NotSent(f"{server.host_port}: {error}")) from error

    await repeat(SERVICE, attempt)


class _TemporaryRefusal(Exception):
    """Raised if the server is temporarily unable to accept the e-mail."""


def _send(mail: EmailMessage, server: MailServer, proxy_url: str) -> None:
    handed_over = False
    try:
        connection = tunnel(proxy_url, server.host, server.port, timeout=_TIMEOUT_S)
        with _Connection(connection, server) as smtp:
            smtp.log_in()
            handed_over = True
            refused = smtp.send_message(mail)
    except smtplib.SMTPRecipientsRefused as error:
        raise _refusal(
            ", ".join(f"{who}: {_decode(why)}" for who, (_, why) in error.recipients.items()),
            [code for code, _ in error.recipients.values()],
        ) from error
    except smtplib.SMTPResponseException as error:
        message = f"{error.smtp_code} {_decode(error.smtp_error)}"
        raise _refusal(message, [error.smtp_code]) from error
    except smtplib.SMTPNotSupportedError as error:
        raise NotSent(f"{server.host_port}: {error}") from error
    except (smtplib.SMTPException, OSError) as error:
        # Once the e-mail has been submitted, a retry could deliver it twice.
        if handed_over:
            message = (
                f"{server.host_port} disconnected; it may or may not have accepted the message"
            )
            raise NotSent(message) from error
        if isinstance(error.__context__ or error, TimeoutError):
            raise NotSent(f"{server.host_port} did not respond for {_TIMEOUT_S:g} s") from error
        raise _TemporaryRefusal(str(error)) from error
    if refused:
        raise NotSent("refused for " + ", ".join(refused) + "; accepted for the other recipients")


def _refusal(message: str, codes: Sequence[int]) -> Exception:
    """Choose the error for a set of SMTP codes, of which 4xx are temporary."""
    is_temporary = all(400 <= code < 500 for code in codes)
    return _TemporaryRefusal(message) if is_temporary else NotSent(message)


def _decode(reply: bytes | str) -> str:
    return reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply


class _Connection(smtplib.SMTP):
    """An SMTP session over a socket that is already connected."""

    def __init__(self, connection: socket.socket, server: MailServer) -> None:
        super().__init__(local_hostname="localhost")  # hides this machine's name
        self._server = server
        self._host = server.host
        self.sock = connection
        if server.secure:
            self.sock = certificates().wrap_socket(connection, server_hostname=server.host)
        code, greeting = self.getreply()
        if code != 220:
            raise smtplib.SMTPConnectError(code, greeting)

    def log_in(self) -> None:
        """Start TLS if necessary, and log in if a user is set."""
        server = self._server
        self.ehlo_or_helo_if_needed()
        # Nothing leaves this machine without TLS, as `starttls` fails if the server does not
        # support it.
        if not server.secure and (self.has_extn("starttls") or not is_local(server.host)):
            self.starttls(context=certificates())
            self.ehlo()
        if server.user:
            self.login(server.user, server.password)


def is_local(host: str, *kinds: AddressKind) -> bool:
    """Return whether a host is this machine, or has an address of one of `kinds`."""
    try:
        return classify(host) in {AddressKind.LOOPBACK, *kinds}
    except ValueError:
        return host == "localhost"
