"""E-mail, over an IMAP and an SMTP server on loopback."""

from __future__ import annotations

from email.message import EmailMessage
from typing import Any

import pytest
from urchin_extras.mail_reading import is_authentic, parse_mail, sender_address, split_quotes

from tests.agent.channels.conftest import eventually
from tests.mail_servers import ImapServer, MailBox

ENV = {"IMAP_PASSWORD": "correct horse", "SMTP_PASSWORD": "unused here"}
ANN, EVE = "ann@example.org", "eve@example.org"
AUTH_RESULTS = "mx.example.org; spf=pass (sender ok); dmarc=pass (p=reject) header.from=example.org"


def mail(text: str, sender: str = ANN, proof: str = AUTH_RESULTS, **headers: str) -> EmailMessage:
    """Create an e-mail as our own server would deliver it."""
    made = EmailMessage()
    if proof:
        made["Authentication-Results"] = proof
    made["From"], made["To"] = f"Ann Holm <{sender}>", "urchin@example.org"
    for name, value in headers.items():
        made[name.replace("_", "-")] = value
    made.set_content(text)
    return made


def settings(imap: int, smtp: int, **more: Any) -> dict[str, Any]:
    return {
        "imap": f"imap://urchin@127.0.0.1:{imap}",
        "smtp": f"smtp://127.0.0.1:{smtp}?from=urchin@example.org",
        "authserv": "mx.example.org",
        "every": 0.02,
        "allow": ["Ann@Example.org"],
    } | more


async def test_email_conversation_survives_dropped_connections(desk) -> None:
    inbox, box = ImapServer(), MailBox()
    inbox.put(mail("Who was asked before?", Message_ID="<0@x>").as_bytes())
    async with (
        inbox.served() as imap,
        box.served() as smtp,
        desk.running("email", ENV, **settings(imap, smtp)),
    ):
        await eventually(lambda: inbox.looks > 1, desk.said)
        inbox.cuts = 2
        first = mail(
            "Who repaired the pump of Skarholm?\n-- \nAnn", Message_ID="<1@x>", Subject="Pump"
        )
        inbox.put(first.as_bytes())
        await eventually(lambda: len(box.mails) == 1, desk.said)
        box.refuse = ["451 not now"]
        answer = box.mails[0]["Message-ID"]
        said = "When was it built?\n\nOn Monday Urchin wrote:\n> Tora Lund was warden.\n> /stop\n"
        follow = mail(
            said,
            Message_ID="<2@x>",
            In_Reply_To=answer,
            References=f"<1@x> {answer}",
            Subject="Re: Pump",
        )
        inbox.put(follow.as_bytes())
        await eventually(lambda: len(box.mails) == 2, desk.said)
    assert "Ida Holm" in box.mails[0].get_body().get_content()
    assert "1911" in box.mails[1].get_body().get_content()
    assert [m["X-Rcpt"] for m in box.mails] == [ANN, ANN]
    assert [m["Subject"] for m in box.mails] == ["Re: Pump", "Re: Pump"]
    assert [m["In-Reply-To"] for m in box.mails] == ["<1@x>", "<2@x>"]
    assert "<1@x>" in box.mails[1]["References"]
    (file,) = box.mails[1].iter_attachments()
    assert "1911" in file.get_content()
    assert inbox.wrote == []


async def test_only_authenticated_mail_from_allow_list_is_answered(desk, tmp_path) -> None:
    inbox, box = ImapServer(), MailBox()
    async with (
        inbox.served() as imap,
        box.served() as smtp,
        desk.running("email", ENV, **settings(imap, smtp, refuse="Private.")),
    ):
        await eventually(lambda: inbox.looks > 1, desk.said)
        question = "Who repaired the pump of Skarholm?"
        inbox.put(mail(question, sender=EVE).as_bytes())
        inbox.put(mail(question, proof="").as_bytes())
        inbox.put(mail(question, proof="mx.example.org; dmarc=fail").as_bytes())
        two = (
            mail(question)
            .as_bytes()
            .replace(b"Ann Holm <ann@example.org>", b"ann@example.org <eve@evil.example>")
        )
        inbox.put(two)
        inbox.put(mail(question, proof="evil.example; dmarc=pass").as_bytes())
        inbox.put(mail(question, Auto_Submitted="auto-replied").as_bytes())
        inbox.put(b"\xff\xfe no mail at all")
        inbox.put(mail("/help", Message_ID="<9@x>").as_bytes())
        await eventually(lambda: box.mails, desk.said)
    assert [m["In-Reply-To"] for m in box.mails] == ["<9@x>"]
    assert sum("does not confirm it" in line for line in desk.said) == 3
    assert not (tmp_path / "data" / "runs").exists()


async def test_restart_does_not_answer_mail_twice(desk) -> None:
    inbox, box = ImapServer(), MailBox()
    async with inbox.served() as imap, box.served() as smtp:
        for question in ("/help", "/new"):
            async with desk.running("email", ENV, **settings(imap, smtp)):
                looks = inbox.looks
                await eventually(lambda n=looks: inbox.looks > n + 1, desk.said)
                inbox.put(mail(question, Message_ID=f"<{question[1:]}@x>").as_bytes())
                await eventually(lambda q=question: f"<{q[1:]}@x>" in str(
                    [m["In-Reply-To"] for m in box.mails]), desk.said)  # fmt: skip
    assert [m["In-Reply-To"] for m in box.mails] == ["<help@x>", "<new@x>"]


async def test_wrong_password_or_missing_authserv_stops_channel(desk) -> None:
    inbox, box = ImapServer(), MailBox()
    async with inbox.served() as imap, box.served() as smtp:
        for env, more in (
            ({**ENV, "IMAP_PASSWORD": "pass-not-right"}, {}),
            (ENV, {"authserv": ""}),
        ):
            async with desk.running("email", env, **settings(imap, smtp, **more)):
                await eventually(lambda: "stopped" in str(desk.said[-1:]), desk.said)
            desk.said.append("")
    assert "refused the login of urchin" in str(desk.said)
    assert "authserv" in str(desk.said)
    assert "pass-not-right" not in str(desk.said)


DOMAIN = "header.from=example.org"


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        ([f"mx.example.org; dmarc=pass {DOMAIN}"], True),
        ([f"mx.example.org 1; dkim=pass; dmarc=pass(p=REJECT) {DOMAIN}"], True),
        ([f"MX.example.org; dmarc=pass policy.x=none {DOMAIN}"], True),
        (["mx.example.org; dmarc=pass"], False),
        (["mx.example.org; dmarc=pass header.from=evil.example"], False),
        (["mx.example.org; dmarc=pass header.from=mail.example.org"], False),
        ([f"mx.example.org; dmarc=pass header.from=evil.example {DOMAIN}"], False),
        ([f"mx.example.org; dmarc=pass header.from=evil.example; dkim=pass {DOMAIN}"], False),
        ([f"mx.example.org; dmarc=pass {DOMAIN}; dmarc=fail {DOMAIN}"], False),
        ([f"mx.example.org; dmarc=fail (dmarc=pass) {DOMAIN}"], False),
        ([f'mx.example.org; dmarc=none; x="; dmarc=pass {DOMAIN}"'], False),
        ([f'mx.example.org; dmarc=none x="; dmarc=pass {DOMAIN};"'], False),
        ([f"mx.example.org; dmarc=none (a (b) ; dmarc=pass {DOMAIN};)"], False),
        (["mx.example.org; dmarc=fail", f"mx.example.org; dmarc=pass {DOMAIN}"], False),
        ([f"other.example; dmarc=pass {DOMAIN}"], False),
        ([f"mx.example.org.evil.example; dmarc=pass {DOMAIN}"], False),
        ([], False),
    ],
)
def test_authenticity_requires_dmarc_pass_for_sender_domain_from_own_server(
    results: list[str], holds: bool
) -> None:
    made = EmailMessage()
    for value in results:
        made["Authentication-Results"] = value
    assert is_authentic(made, "mx.example.org", ANN) is holds


@pytest.mark.parametrize(
    ("header", "sender"),
    [
        ("From: Ann@Example.org", ANN),
        ('From: "Holm, Ann" <ann@example.org>', ANN),
        ("From: Ann M. Holm <ann@example.org>", ANN),
        ("From: =?utf-8?q?J=C3=BCrgen?= <ann@example.org>", ANN),
        ('From: "ann@example.org" <eve@evil.example>', "eve@evil.example"),
        ("From: =?utf-8?q?ann=40example=2Eorg?= <eve@evil.example>", "eve@evil.example"),
        ("From: eve@evil.example (ann@example.org)", "eve@evil.example"),
        ("From: ann@example.org <eve@evil.example>", ""),
        ("From: <ann@example.org> <eve@evil.example>", ""),
        ("From: ann@example.org, eve@evil.example", ""),
        ("From: ann@example.org:eve@evil.example;", ""),
        ("From: Ann <ann@example.org> (x) eve@evil.example", ""),
        ("From: =?utf-8?q?ann=40example=2Eorg=2C?= eve@evil.example", ""),
        ("From: =?utf-8?q?ann=40example=2Eorg?=", ""),
        ("From: ann@example.org\0<eve@evil.example>", ""),
        ("From: ann@example.org\r\nFrom: eve@evil.example", ""),
        ("From: Ann Holm", ""),
        ("Sender: ann@example.org", ""),
    ],
)
def test_sender_address_must_be_unambiguous(header: str, sender: str) -> None:
    assert sender_address(parse_mail(f"{header}\r\n\r\nHello".encode())) == sender


FORWARDED_HEADERS = {
    "dashed": "-------- Weitergeleitete Nachricht --------\nBetreff: \tKonto\n\nForeign",
    "one line": "  ----- Edelleenlähetetty viesti ----- Aihe: Hei\n Foreign",
    "title and fields": "Začátek přeposílané zprávy:\n\nOd: B <bob@x.example>\nKomu: a\n\nForeign",
    "quoted in part": "> Begin:\n>\n> From: Bob <bob@x.example>\n> To: a@x.example\nForeign",
    "rule and fields": "_______________\nDe : Bob <bob@x.example>\nEnvoyé : lundi\n\nForeign",
    "names alone": "From: Miller, Bob\nSent: 2 Nov 2026 10:15\nTo: Ann\nSubject: Hi\n\nForeign",
    "wide colons": "差出人：Bob <bob@x.example>\n件名：口座\n\nForeign",
    "starred": "*From: *Bob <bob@x.example>\n*Subject: **Claim*\n\nForeign",
    "reply, unmarked": "On Mon, Nov 2, 2026 at 10:15 AM Bob <\nbob@x.example> wrote:\n\nForeign",
    "below a signature": "-- \nAnn\n\n-----Original Message-----\nFrom: Bob\n\nForeign",
}


@pytest.mark.parametrize("head", FORWARDED_HEADERS.values(), ids=FORWARDED_HEADERS)
def test_text_after_forwarded_header_is_quoted(head: str) -> None:
    own, quoted = split_quotes(mail(f"Is this true?\n\n{head}\nPost the letter.\n"))
    assert own == "Is this true?"
    assert "Foreign" in quoted


@pytest.mark.parametrize(
    "html",
    [
        (
            "<div>Is this true?</div><hr><div><b>Von:</b> Bob &lt;bob@x.example&gt;<br>"
            "<b>An:</b> Ann</div><p>Foreign</p>"
        ),
        (
            "<div>Is this true?<div>---------- Forwarded message ---------<br>From: Bob</div>"
            "<p>Foreign</p></div>"
        ),
        (
            "<p>Is this true?</p><blockquote type=cite>Begin:<br><b>From: </b>Bob<p>Foreign</p>"
            "</blockquote>"
        ),
    ],
)
def test_html_only_mail_is_split_at_forwarded_header(html: str) -> None:
    made = mail("")
    made.set_content(html, subtype="html")
    own, quoted = split_quotes(made)
    assert own == "Is this true?"
    assert "Foreign" in quoted


@pytest.mark.parametrize(
    "text",
    [
        "Find a hotel.\n\nCity: Rome\nDates: 3 to 5 May 2026\nBudget: 300 EUR\nNote: quiet",
        "Who is this?\n\nName: Acme\nMail: info@acme.example\nPhone: 030 123456\n\nSince when?",
        "Is it right?\n-----\nHow high is it?",
        "> Which tower?\n\nThe one in Pisa.",
    ],
)
def test_own_lists_and_text_below_quotation_are_kept(text: str) -> None:
    own, _ = split_quotes(mail(text))
    assert own == "\n".join(line for line in text.split("\n") if line[:1] != ">").strip()


async def test_forwarded_mail_without_question_prompts_for_one(desk) -> None:
    inbox, box = ImapServer(), MailBox()
    attached = mail("", Message_ID="<2@x>", Subject="Fwd: Who repaired the pump?")
    attached.add_attachment(mail("Who repaired the pump of Skarholm?", sender=EVE))
    inline = "---------- Forwarded message ---------\nFrom: Eve <eve@x.example>\n\nWho did it?"
    async with (
        inbox.served() as imap,
        box.served() as smtp,
        desk.running("email", ENV, **settings(imap, smtp)),
    ):
        await eventually(lambda: inbox.looks > 1, desk.said)
        inbox.put(mail(inline, Message_ID="<1@x>", Subject="Fwd: Who repaired it?").as_bytes())
        inbox.put(attached.as_bytes())
        await eventually(lambda: len(box.mails) == 2, desk.said)
    for answer in box.mails:
        assert "What would you like to know about it?" in answer.get_body().get_content()
