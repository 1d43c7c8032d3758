"""A notification goes to each target; a failure at one is reported and stops no other."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import socket
import ssl
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from agent.notify.notice import Attachment, Notice
from agent.notify.targets import notify, sign
from agent.options import Options
from browser.net.transport import certificates
from tests.loopback import Handler, serving
from tests.mail_servers import MailBox

if TYPE_CHECKING:
    from collections.abc import Iterator

ATOM = "{http://www.w3.org/2005/Atom}"
KEY = "whsec_" + base64.b64encode(b"the key of the tide tables").decode()
REPORT = Attachment.from_bytes("report.md", "# High water: 4:10 \N{EM DASH} Skarholm".encode())
NOTICE = Notice(
    "High water\r\nBcc: eve@example.org", "It was **4:10**.", "https://x.example/r", (REPORT,)
)


class Hook(Handler):
    """Answers with the prepared statuses, then 204."""

    def post(self, body: bytes) -> None:
        site = self.server.site
        site.got.append((self.path, dict(self.headers), body))
        status, headers = site.answers.pop(0) if site.answers else (204, {})
        if status == 0:
            self.connection.shutdown(socket.SHUT_RDWR)  # taken, and never answered
            self.close_connection = True
            return
        self.send(status, "text/plain", b"", headers)


class HookSite:
    def __init__(self, url: str) -> None:
        self.url = url
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[tuple[int, dict[str, str]]] = []


@pytest.fixture
def hook() -> Iterator[HookSite]:
    with serving(Hook, HookSite) as site:
        yield site


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, str]:
    folder = tmp_path_factory.mktemp("tls")
    made, key = folder / "certificate.pem", folder / "key.pem"
    make = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 "
        "-subj /CN=mail -addext subjectAltName=IP:127.0.0.1"
    )
    files = ["-keyout", str(key), "-out", str(made)]
    subprocess.run([*make.split(), *files], check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made, key)
    return context, str(made)


async def deliver_notice(
    *targets: str, notice: Notice = NOTICE, env: dict[str, str] | None = None, **flags
):
    """Notify; returns (sent, detail) for each target."""
    environ = {"WEBHOOK_SECRET": KEY} | (env or {})
    done = await notify(targets, notice, Options(**flags), environ=environ)
    assert [delivery.target for delivery in done] == [t.partition("#")[0] for t in targets]
    return [(delivery.sent, delivery.detail) for delivery in done]


async def test_webhook_notice_is_signed_and_verifiable(hook) -> None:
    assert await deliver_notice(f"{hook.url}/in?a=1#HOOK", env={"HOOK": KEY}) == [(True, "")]
    ((path, headers, body),) = hook.got
    assert path == "/in?a=1"
    name, stamp = headers["webhook-id"], headers["webhook-timestamp"]
    mac = hmac.new(
        b"the key of the tide tables", f"{name}.{stamp}.".encode() + body, hashlib.sha256
    )
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(mac.digest()).decode()}"
    assert abs(int(stamp) - time.time()) < 60
    data = json.loads(body)["data"]
    assert data["text"] == "It was **4:10**."
    assert base64.b64decode(data["files"][0]["base64"]) == REPORT.body
    assert name == NOTICE.id


def test_signature_matches_published_example() -> None:
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    body = b'{"test": 2432232314}'
    headers = sign("msg_p5jXN8AQM9LWM0D4loKWxJek", body, key, at=1614265330)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


async def test_webhook_is_retried_with_same_id_until_accepted(hook) -> None:
    hook.answers = [(500, {}), (429, {"Retry-After": "0"}), (0, {})]
    assert await deliver_notice(hook.url) == [(True, "")]
    assert len(hook.got) == 4
    assert len({headers["webhook-id"] for _, headers, _ in hook.got}) == 1


async def test_webhook_refusal_is_not_retried_and_redirect_not_followed(hook) -> None:
    hook.answers = [
        (410, {}),
        (302, {"Location": "http://169.254.169.254/"}),
        (429, {"Retry-After": "9000"}),
    ]
    (gone,), (moved,), (patience,) = (
        await deliver_notice(hook.url),
        await deliver_notice(hook.url),
        await deliver_notice(hook.url),
    )
    assert not gone[0]
    assert "410" in gone[1]
    assert not moved[0]
    assert "302" in moved[1]
    assert not patience[0]
    assert "asks clients to wait 9000 s" in patience[1]
    assert len(hook.got) == 3


async def test_failed_target_is_reported_and_others_are_notified(hook, tmp_path) -> None:
    feed = tmp_path / "news.xml"
    closed = "http://127.0.0.1:9/hook"
    done = await deliver_notice(
        closed, "mailto:ann@example.org", "https://x.example/#NONE", "pigeon:loft", "desktop:",
        f"feed:{feed}", hook.url, "http://x.example/", "feed:/proc/x/news.xml",
        env={"PATH": str(tmp_path)},
    )  # fmt: skip
    assert [sent for sent, _ in done] == [False] * 5 + [True, True, False, False]
    said = [detail for _, detail in done]
    for detail, words in zip(
        said,
        (
            "refused",
            "smtp-url",
            "research keys set NONE",
            "pigeon",
            "desktop",
            "",
            "",
            "https",
            "write",
        ),
        strict=True,
    ):
        assert words in detail
    assert len(hook.got) == 1
    assert feed.is_file()


async def test_mail_goes_to_all_recipients_with_report_and_safe_headers() -> None:
    box = MailBox()
    async with box.served() as port:
        url = f"smtp://127.0.0.1:{port}?from=urchin@example.org"
        assert await deliver_notice("mailto:ann@example.org,bob@example.org", smtp_url=url) == [
            (True, "")
        ]
    (mail,) = box.mails
    assert mail["X-Rcpt"] == "ann@example.org, bob@example.org"
    assert mail["Subject"] == "High water Bcc: eve@example.org"
    assert mail["Bcc"] is None
    assert NOTICE.id in mail["Message-ID"]
    (file,) = mail.iter_attachments()
    assert file.get_filename() == "report.md"
    assert file.get_content().strip() == REPORT.body.decode()
    assert "It was **4:10**." in mail.get_body().get_content()


async def test_mail_is_retried_after_temporary_refusal_only() -> None:
    box = MailBox()
    async with box.served() as port:
        url = f"smtp://127.0.0.1:{port}?from=urchin@example.org"
        box.refuse = ["451 greylisted, come back", "450 not yet"]
        assert await deliver_notice("mailto:ann@example.org", smtp_url=url) == [(True, "")]
        box.refuse = ["550 no such user"] * 2
        ((sent, detail),) = await deliver_notice("mailto:ann@example.org", smtp_url=url)
    assert not sent
    assert "550" not in detail
    assert "no such user" in detail
    assert len(box.mails) == 1
    assert len(box.refuse) == 1


async def test_password_is_sent_only_over_tls(certificate, monkeypatch) -> None:
    context, path = certificate
    monkeypatch.setenv("SSL_CERT_FILE", path)
    certificates.cache_clear()
    box = MailBox()
    try:
        async with box.served(context) as port:
            url = f"smtp://urchin%40example.org@127.0.0.1:{port}"
            passwords = ["wrong", "correct horse"]
            done = [
                await deliver_notice(
                    "mailto:ann@example.org", smtp_url=url, env={"SMTP_PASSWORD": one}
                )
                for one in passwords
            ]
    finally:
        certificates.cache_clear()
    assert [sent for ((sent, _),) in done] == [False, True]
    assert "535" in done[0][0][1]
    assert "wrong" not in done[0][0][1]
    assert box.tls == [True]
    assert box.mails[0]["From"] == "urchin@example.org"


async def test_remote_server_without_tls_gets_nothing() -> None:
    box = MailBox()
    async with box.served() as port:
        # the same machine by a name that does not say so
        url = f"smtp://urchin%40example.org@127.0.0.1.:{port}"
        ((sent, detail),) = await deliver_notice(
            "mailto:ann@example.org", smtp_url=url, env={"SMTP_PASSWORD": "x"}
        )
    assert not sent
    assert "STARTTLS" in detail
    assert box.mails == []
    assert box.logins == []


async def test_feed_gets_each_notice_once_newest_first(tmp_path) -> None:
    path = tmp_path / "news.xml"
    for number in range(3):
        one = Notice(f"Tide {number} <b>", "a\x00b & c", id=f"n{number}")
        assert await deliver_notice(f"feed:{path}", f"feed:{path}", notice=one) == [(True, "")] * 2
    feed = etree.parse(path)
    assert [e.findtext(f"{ATOM}title") for e in feed.findall(f"{ATOM}entry")] == [
        "Tide 2 <b>", "Tide 1 <b>", "Tide 0 <b>",
    ]  # fmt: skip
    assert feed.findtext(f"{ATOM}entry/{ATOM}content") == "ab & c"
    path.write_text("my diary")
    ((sent, detail),) = await deliver_notice(f"feed:{path}")
    assert not sent
    assert "not a feed" in detail
    assert path.read_text() == "my diary"


@pytest.mark.skipif(os.name == "nt", reason="notify-send is of Linux")
async def test_desktop_notification_is_plain_text_without_markup(tmp_path) -> None:
    shown = tmp_path / "shown"
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {shown}\n')
    program.chmod(0o755)
    notice = Notice("--urgency=critical", "<a href='x'>4:10</a>")
    assert await deliver_notice("desktop:", notice=notice, env={"PATH": str(tmp_path)}) == [
        (True, "")
    ]
    _, end, title, text = shown.read_text().splitlines()
    assert (end, title) == ("--", "--urgency=critical")
    assert text == "&lt;a href='x'&gt;4:10&lt;/a&gt;"
