"""Reads e-mail messages (.eml), mailboxes (.mbox), and pages saved as e-mail (.mhtml)."""

from __future__ import annotations

import re
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from browser.errors import ExtractError
from browser.extract.dates import iso_date
from browser.extract.documents.composer import Composer
from browser.extract.sniff import decode
from browser.extract.tree import parse_html
from browser.text.sentences import text_blocks
from browser.text.words import clean, one_line
from browser.types import Document

_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
# The line before each message in a mailbox (RFC 4155, with an asctime date): `From
# someone@example.org Fri May  3 08:00:00 2024`. Sentences may also begin with "From".
_MBOX_LINE = re.compile(
    rb"(?:\A|\r?\n\r?\n)From \S+ {1,9}[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]?\d \d\d:\d\d(?::\d\d)? "
    rb"[^\r\n]{0,12}\d{4}[^\r\n]{0,9}\r?\n(?=[!-9;-~]+:)"
)
_MAX_MESSAGES = 1_000  # in a mailbox file
# Maximum nesting of forwarded messages; deeper nesting is an attack on the parser.
_MAX_DEPTH = 5


def read_mail(body: bytes, url: str, name: str) -> Document:
    """Read a message or a mailbox: visible headers, text, forwarded messages.

    The notes name the attachments. Raises ExtractError if it is not an e-mail.
    """
    composer = Composer()
    if _MBOX_LINE.match(body):
        starts = [match.end() for match in _MBOX_LINE.finditer(body)]
        ends = [*starts[1:], len(body)]
        for start, end in [*zip(starts, ends, strict=True)][:_MAX_MESSAGES]:
            message = _parse(body[start:end])
            composer.heading(1, _header(message, "Subject") or "(no subject)")
            _add_message(message, composer, _MAX_DEPTH)
        if len(starts) > _MAX_MESSAGES:
            note = f"only the first {_MAX_MESSAGES} of {len(starts)} messages were read"
            composer.notes.append(note)
        return composer.document(url, "mail", name, Document(url, title=name))
    message = _parse(body)
    _add_message(message, composer, _MAX_DEPTH)
    if not composer.blocks:
        raise ExtractError("not readable as e-mail: it has no header and no text")
    facts = Document(
        url,
        title=_header(message, "Subject"),
        author=_header(message, "From") or None,
        published=iso_date(_header(message, "Date")),
        language=_header(message, "Content-Language") or None,
    )
    return composer.document(url, "mail", name, facts)


def saved_page(body: bytes) -> tuple[str, str] | None:
    """Return the HTML and address of a page that was saved as e-mail; None for any other mail."""
    message = _parse(body)
    if message.get_content_type() != "multipart/related":
        return None
    address = _header(message, "Snapshot-Content-Location") or _header(message, "Content-Location")
    parts = (part for part in message.walk() if isinstance(part, EmailMessage))
    page = next((part for part in parts if part.get_content_type() == "text/html"), None)
    if page is None or not (address or message.get("From", "").startswith("<Saved by")):
        return None
    return _decode_part(page), address


def _parse(data: bytes) -> EmailMessage:
    try:
        return BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
    except RecursionError as error:
        raise ExtractError("the parts of the message are nested too deeply") from error


def _add_message(message: EmailMessage, composer: Composer, depth: int) -> None:
    lines = (f"{name}: {text}" for name in _SHOWN_HEADERS if (text := _header(message, name)))
    composer.paragraph("\n".join(lines))
    body = message.get_body(("html", "plain"))
    if isinstance(body, EmailMessage):
        text = _decode_part(body)
        if body.get_content_type() == "text/html":
            composer.markup(parse_html(text))
        else:
            for block in text_blocks(text, unwrapped=True).split("\n\n"):
                composer.paragraph(block)
    for part in message.iter_attachments() if message.is_multipart() else ():
        if part.get_content_type() == "message/rfc822" and depth > 0:
            for inner in part.iter_parts():
                if isinstance(inner, EmailMessage):
                    _add_message(inner, composer, depth - 1)
        elif filename := part.get_filename():
            composer.notes.append(f"the attachment {clean(filename)} was not read")


def _decode_part(part: EmailMessage) -> str:
    """Decode a part's text, using its transfer encoding and charset."""
    payload = part.get_payload(decode=True)
    charset = part.get_content_charset() or ""
    return decode(payload, f"text/plain; charset={charset}") if isinstance(payload, bytes) else ""


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = message.get(name)
    # The errors that the standard library's parser raises for broken headers.
    except (ValueError, IndexError, AttributeError, OverflowError):
        return ""
    return one_line(str(value)) if value else ""
