"""Who sent a mail, and which of its words are the sender's own.

Anybody can write any sender into a mail, and a forwarded mail is somebody else's text. Both are
decided by structure: the one address of `From`, the result of our own server for its domain, and
the marks that mail programs put above what they quote.
"""

from __future__ import annotations

import email
import re
from email import policy
from email.errors import ObsoleteHeaderDefect
from itertools import takewhile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from email.message import EmailMessage

_ASIDE = re.compile(r'\([^()"]*\)|"[^"]*"')
MAX_LINES = 400
"""Lines of a mail that are read; questions are shorter."""
_TITLE = re.compile(r"[\s>*]*([-_=]{3,})[^\w-]*\w.*?[^\s-][\s:]*[-_=]{3,}")
"""`---------- Forwarded message ---------`, in any language."""
_FIELD = re.compile(r"[\s>*_]*[^\W\d_][\w \u00a0./'’-]{0,30}?[\s*_]*[:：][\s*_]*(.*)")
"""`From: …`, also `*From:* …`, `De : …` and `发件人：…`."""
_ADDRESS = re.compile(r"[<\[(](?:mailto:)?[^\s<>@]+@[^\s<>@]+[>\])]", re.IGNORECASE)
_TIME = re.compile(r"\d{1,2}[:.h]\d{2}")
_DATE = re.compile(r"(?:19|20)\d{2}|\d{1,2}[./-]\d{1,2}[./-]\d{2}")
_RULE = re.compile(r"[\W_]*")


def parse_mail(body: bytes) -> EmailMessage:
    """Parse a mail as it came."""
    mail: Any = email.message_from_bytes(body, policy=policy.default)
    return mail  # type: ignore[no-any-return] # what the default policy makes


def sender_address(mail: EmailMessage) -> str:
    """Return the address of the one sender, in lower case; "" where that is not clear.

    Programs read `ann@example.org <eve@evil.example>` differently, and servers authenticate what
    they read; so there must be one `From` of one address, which is valid.
    """
    headers: list[Any] = mail.get_all("From", [])
    if len(headers) != 1 or len(headers[0].addresses) != 1:
        return ""
    address: str = headers[0].addresses[0].addr_spec
    raw = next(str(value) for name, value in mail.raw_items() if name.lower() == "from")
    # Obsolete forms such as `Ann M. Holm <…>` are clear anyway.
    valid = all(isinstance(defect, ObsoleteHeaderDefect) for defect in headers[0].defects)
    return address.lower() if valid and address in raw else ""


def is_authentic(mail: EmailMessage, authserv: str, sender: str) -> bool:
    """Whether our own server found a mail to be from the domain of its sender.

    Only the topmost `Authentication-Results` of that name counts: a server takes out those that
    bear its own name and came from outside (RFC 8601, 5), and writes its own above all others.
    It must hold one result of DMARC, `pass`, for the sender's domain (`header.from`).
    """
    for value in mail.get_all("Authentication-Results", []):
        header = str(value)
        # Comments, which may hold comments, and quoted words could hold a result of their own.
        while (shorter := _ASIDE.sub(" ", header, count=1)) != header:
            header = shorter
        name, _, results = header.lower().partition(";")
        if name.split()[:1] == [authserv.lower()]:
            found = [words for one in results.split(";") if (words := one.split())]
            dmarc = [words for words in found if words[0].startswith("dmarc")]
            domains = [word for words in dmarc for word in words if word.startswith("header.from")]
            domain = _ascii(sender.rpartition("@")[2])
            passed = [words[0] for words in dmarc] == ["dmarc=pass"]
            return passed and domains == [f"header.from={domain}"]
    return False


def _ascii(domain: str) -> str:
    """The form of an international domain name in which servers write it."""
    try:
        return domain.encode("idna").decode()
    except UnicodeError:
        return domain


def is_forward(mail: EmailMessage) -> bool:
    """Whether a mail carries another mail as an attachment."""
    return any(one.get_content_type() == "message/rfc822" for one in mail.iter_attachments())


def split_quotes(mail: EmailMessage) -> tuple[str, str]:
    """Return the sender's own words, and what they quote or forward.

    From the first mark of a forwarded mail on, all is quoted. Above it, and where there is none,
    lines with `>` are, and the line above them that ends in a colon.
    """
    lines = _text(mail).splitlines()[:MAX_LINES]
    mark = next((n for n in range(len(lines)) if _begins_forward(lines, n)), len(lines))
    own: list[str] = []
    quoted: list[str] = []
    # RFC 3676, 4.3: a signature
    for line in takewhile(lambda line: line != "-- ", lines[:mark]):
        if not line.startswith(">"):
            own.append(line)
            continue
        _drop_heading(own)
        quoted.append(line.lstrip("> "))
    if mark < len(lines):
        _drop_heading(own)
        quoted += [line.lstrip("> ") for line in lines[mark:]]
    return "\n".join(own).strip(), "\n".join(quoted).strip()


def _drop_heading(own: list[str]) -> None:
    """Drop rules and blank lines above a quotation, and the words that say whose it is."""
    while own and _RULE.fullmatch(own[-1]):
        own.pop()
    for ends in ((":", "："), "<"):  # a long line is wrapped within its address
        if own and own[-1].rstrip().endswith(ends):
            own.pop()


def _begins_forward(lines: list[str], n: int) -> bool:
    """Whether a forwarded mail begins at a line.

    Marks are a title between dashes; fields as at the head of a mail, among them an address or a
    time; and a line with an address that ends in a colon, with no quoted lines below it.
    """
    if _TITLE.match(lines[n]):
        return True
    values = _fields(lines[n:])
    if any(map(_ADDRESS.search, values[:4])) and len(values) > 1:
        return True
    if len(values) > 3 and any(_TIME.search(one) and _DATE.search(one) for one in values[:4]):
        return True
    above = " ".join(lines[max(0, n - 1) : n + 1])
    if lines[n].rstrip().endswith((":", "：")) and re.search(r"\S@[^\s@]", above):
        below = next((line for line in lines[n + 1 :] if line.strip()), "")
        return not below.startswith(">")
    return False


def _fields(lines: Iterable[str]) -> list[str]:
    """The values of the `Name: value` lines that these lines begin with, over blank ones."""
    values = []
    for line in lines:
        found = _FIELD.match(line)
        if found:
            values.append(found[1])
        elif line.strip("> \t") or not values:
            break
    return values


def _text(mail: EmailMessage) -> str:
    """The text of a mail; of one in HTML alone, with `>` before what is quoted."""
    part: Any = mail.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = str(part.get_content())
    except LookupError:  # a charset that nobody knows
        text = (part.get_payload(decode=True) or b"").decode("utf-8", "replace")
    return _html_text(text) if part.get_content_subtype() == "html" else text


def _html_text(text: str) -> str:
    from lxml.html import document_fromstring  # noqa: PLC0415 - few mails have no plain text

    try:
        page = document_fromstring(text)
    except (ValueError, AssertionError):
        return ""
    for line in page.iter("br", "p", "div", "tr", "li", "hr"):
        line.tail = f"\n{line.tail or ''}"
        if line.tag != "br":
            line.text = f"\n{line.text or ''}"
    for quote in [*page.iter("blockquote")]:
        inner = "".join(map(str, quote.itertext())).replace("\n", "\n> ")
        after = quote.tail or ""
        quote.clear()
        quote.text, quote.tail = f"\n> {inner}\n", after
    return "".join(map(str, page.itertext()))
