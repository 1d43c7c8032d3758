"""E-mail, over an IMAP and an SMTP server on loopback."""

from __future__ import annotations

from email.message import EmailMessage
from typing import Any

import pytest
from urchin_extras.email_channel import proven

from tests.agent.channels.conftest import eventually
from tests.mail_servers import ImapServer, MailBox

ENV = {"IMAP_PASSWORD": "correct horse", "SMTP_PASSWORD": "unused here"}
ANN, EVE = "ann@example.org", "eve@example.org"
PROOF = "mx.example.org; spf=pass (sender ok); dmarc=pass (p=reject) header.from=example.org"


def mail(text: str, sender: str = ANN, proof: str = PROOF, **headers: str) -> EmailMessage:
    """Make a mail as our own server would hand it over."""
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


async def test_question_answer_follow_up_and_file_with_the_connection_cut_twice(desk) -> None:
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


async def test_only_mails_that_are_proven_to_be_from_the_allow_list_are_heard(
    desk, tmp_path
) -> None:
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
        inbox.put(mail(question, proof="evil.example; dmarc=pass").as_bytes())
        inbox.put(mail(question, Auto_Submitted="auto-replied").as_bytes())
        inbox.put(b"\xff\xfe no mail at all")
        inbox.put(mail("/help", Message_ID="<9@x>").as_bytes())
        await eventually(lambda: box.mails, desk.said)
    assert [m["In-Reply-To"] for m in box.mails] == ["<9@x>"]
    assert sum("nothing proves it" in line for line in desk.said) == 3
    assert not (tmp_path / "data" / "runs").exists()


async def test_nothing_is_answered_twice_over_a_restart(desk) -> None:
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


async def test_a_wrong_password_and_a_missing_proof_stop_the_channel(desk) -> None:
    inbox, box = ImapServer(), MailBox()
    async with inbox.served() as imap, box.served() as smtp:
        for env, more in (
            ({**ENV, "IMAP_PASSWORD": "pass-not-right"}, {}),
            (ENV, {"authserv": ""}),
        ):
            async with desk.running("email", env, **settings(imap, smtp, **more)):
                await eventually(lambda: "stopped" in str(desk.said[-1:]), desk.said)
            desk.said.append("")
    assert "does not let urchin in" in str(desk.said)
    assert "authserv" in str(desk.said)
    assert "pass-not-right" not in str(desk.said)


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (["mx.example.org; dmarc=pass header.from=example.org"], True),
        (["mx.example.org 1; dkim=pass; dmarc=pass"], True),
        (["mx.example.org; dmarc=fail (dmarc=pass)"], False),
        (['mx.example.org; dmarc=none; x="; dmarc=pass"'], False),
        (['mx.example.org; dmarc=none x="; dmarc=pass ;"'], False),
        (["mx.example.org; dmarc=none (a (b) ; dmarc=pass ;)"], False),
        (["mx.example.org; dmarc=fail", "mx.example.org; dmarc=pass"], False),
        (["other.example; dmarc=pass"], False),
        (["mx.example.org.evil.example; dmarc=pass"], False),
        ([], False),
    ],
)
def test_the_topmost_result_of_our_own_server_decides(results: list[str], holds: bool) -> None:
    made = EmailMessage()
    for value in results:
        made["Authentication-Results"] = value
    assert proven(made, "mx.example.org") is holds
