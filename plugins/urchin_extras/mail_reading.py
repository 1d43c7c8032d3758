"""Determines who sent an e-mail, and which parts the sender wrote.

Anyone can forge a sender, and a forwarded e-mail was written by somebody else. Both are detected by
structure: the single address in `From`, our own server's result for its domain, and the markers
that mail programs put above quotations.
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

_COMMENT_OR_QUOTED_STRING = re.compile(r'\([^()"]*\)|"[^"]*"')
MAX_LINES = 400
"""Maximum number of lines read from an e-mail; questions are shorter."""
_FORWARD_TITLE = re.compile(r"[\s>*]*([-_=]{3,})[^\w-]*\w.*?[^\s-][\s:]*[-_=]{3,}")
"""Matches `---------- Forwarded message ---------`, in any language."""
_HEADER_FIELD = re.compile(r"[\s>*_]*[^\W\d_][\w \u00a0./'’-]{0,30}?[\s*_]*[:：][\s*_]*(.*)")
"""Matches `From: …`, as well as `*From:* …`, `De : …` and `发件人：…`."""
_ADDRESS = re.compile(r"[<\[(](?:mailto:)?[^\s<>@]+@[^\s<>@]+[>\])]", re.IGNORECASE)
_TIME = re.compile(r"\d{1,2}[:.h]\d{2}")
_DATE = re.compile(r"(?:19|20)\d{2}|\d{1,2}[./-]\d{1,2}[./-]\d{2}")
_RULE_LINE = re.compile(r"[\W_]*")


def parse_mail(body: bytes) -> EmailMessage:
    """Parse an e-mail as received."""
    mail: Any = email.message_from_bytes(body, policy=policy.default)
    return mail  # type: ignore[no-any-return] # what the default policy creates


def sender_address(mail: EmailMessage) -> str:
    """Return the single sender's address in lower case; "" if it is ambiguous.

    Programs disagree about `ann@example.org <eve@evil.example>`, and servers authenticate whichever
    address they find. So there must be exactly one `From` with one valid address.
    """
    headers: list[Any] = mail.get_all("From", [])
    if len(headers) != 1 or len(headers[0].addresses) != 1:
        return ""
    address: str = headers[0].addresses[0].addr_spec
    raw = next(str(value) for name, value in mail.raw_items() if name.lower() == "from")
    # Obsolete forms such as `Ann M. Holm <…>` are unambiguous.
    valid = all(isinstance(defect, ObsoleteHeaderDefect) for defect in headers[0].defects)
    return address.lower() if valid and address in raw else ""


def is_authentic(mail: EmailMessage, authserv: str, sender: str) -> bool:
    """Whether our own server verified that an e-mail is from its sender's domain.

    Only the topmost `Authentication-Results` header with the server's name counts: a server removes
    headers with its name that came from outside (RFC 8601, 5), and puts its own above all others.
    It must contain exactly one DMARC result, `pass`, for the sender's domain (`header.from`).
    """
    for value in mail.get_all("Authentication-Results", []):
        header = str(value)
        # Comments (which may be nested) and quoted strings could contain a fake result.
        while (shorter := _COMMENT_OR_QUOTED_STRING.sub(" ", header, count=1)) != header:
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
    """Return an internationalised domain name in the ASCII form that servers write."""
    try:
        return domain.encode("idna").decode()
    except UnicodeError:
        return domain


def is_forward(mail: EmailMessage) -> bool:
    """Whether an e-mail has another e-mail attached."""
    return any(one.get_content_type() == "message/rfc822" for one in mail.iter_attachments())


def split_quotes(mail: EmailMessage) -> tuple[str, str]:
    """Return what the sender wrote, and what they quote or forward.

    Everything from the first marker of a forwarded e-mail onwards is quoted. Above the marker,
    or if there is none, lines with `>` are quoted, as is the line above them if it ends in a colon.
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
    """Remove rules, blank lines and the attribution line above a quotation."""
    while own and _RULE_LINE.fullmatch(own[-1]):
        own.pop()
    for ends in ((":", "："), "<"):  # long lines may be wrapped within the address
        if own and own[-1].rstrip().endswith(ends):
            own.pop()


def _begins_forward(lines: list[str], n: int) -> bool:
    """Whether a forwarded e-mail begins at a line.

    The markers are: a title between dashes; fields as in an e-mail header, including an address or
    a time; a line with an address that ends in a colon and has no quoted lines below it.
    """
    if _FORWARD_TITLE.match(lines[n]):
        return True
    values = _leading_field_values(lines[n:])
    if any(map(_ADDRESS.search, values[:4])) and len(values) > 1:
        return True
    if len(values) > 3 and any(_TIME.search(one) and _DATE.search(one) for one in values[:4]):
        return True
    above = " ".join(lines[max(0, n - 1) : n + 1])
    if lines[n].rstrip().endswith((":", "：")) and re.search(r"\S@[^\s@]", above):
        below = next((line for line in lines[n + 1 :] if line.strip()), "")
        return not below.startswith(">")
    return False


def _leading_field_values(lines: Iterable[str]) -> list[str]:
    """Return the values of the leading `Name: value` lines, skipping blank ones."""
    values = []
    for line in lines:
        found = _HEADER_FIELD.match(line)
        if found:
            values.append(found[1])
        elif line.strip("> \t") or not values:
            break
    return values


def _text(mail: EmailMessage) -> str:
    """Return an e-mail's text; if it only has HTML, quotations are marked with `>`."""
    part: Any = mail.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = str(part.get_content())
    except LookupError:  # an unknown charset
        text = (part.get_payload(decode=True) or b"").decode("utf-8", "replace")
    return _html_text(text) if part.get_content_subtype() == "html" else text


def _html_text(text: str) -> str:
    from lxml.html import document_fromstring  # noqa: PLC0415 - few e-mails have no plain text

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
