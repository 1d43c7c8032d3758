"""A secret is typed by name, only on its own origin and in no frame, and stored nowhere."""

from __future__ import annotations

import base64
import json

import pytest

from agent.errors import UsageError
from agent.guard.secret_store import FILE, SecretStore, secret_name
from tests.loopback import Handler, serving

pytestmark = pytest.mark.row(n=21)

VALUE = "drizzle-otter 7"
FORM = b"""<title>Sign in</title><form method="post" action="/in">
<label>Word <input type="password" name="word"></label></form>
<label>Plain <input></label><script>
document.querySelector('form').oninput = e => document.title = 'typed'</script>"""


class Login:
    def __init__(self, base: str) -> None:
        self.base = base
        self.posted: list[bytes] = []


class Requests(Handler):
    def get(self) -> None:
        base, form = (
            self.server.site.base,
            FORM.decode().replace("'", "&quot;").replace('"', "&quot;"),
        )
        framed = {
            "/frame": f'<iframe src="{base}/"></iframe>',
            "/other-frame": f'<iframe src="{base.replace("127.0.0.1", "localhost")}/"></iframe>',
            "/blank": "<iframe></iframe><script>frames[0].document.write(`"
            + FORM.decode().split("<script")[0]
            + "`)</script>",
            "/srcdoc": f'<iframe srcdoc="{form}"></iframe>',
        }
        if self.path == "/gate":
            self.gate()
        elif self.path == "/away":  # the stored origin sends on to another one
            self.send_response(302)
            self.send_header("Location", f"{base}/")
            self.end_headers()
        else:
            self.send(200, "text/html", framed[self.path].encode() if self.path in framed else FORM)

    def gate(self) -> None:
        """A page behind HTTP authentication."""
        given = base64.b64encode(f"ada:{VALUE}".encode()).decode()
        if self.headers["Authorization"] == f"Basic {given}":
            self.send(200, "text/html", b"<p>Inside the gate.</p><a href=/gate>Again</a>")
        else:
            asked = {"WWW-Authenticate": 'Basic realm="Museum"'}
            self.send(401, "text/html", b"<p>Ask the porter.</p>", asked)

    def post(self, body: bytes) -> None:
        self.server.site.posted.append(body)
        self.send(200, "text/html", b"<p>Welcome. You said " + body + b"</p>")


async def typed(ask, script, events, tmp_path, own: str, at: str, label: str = "Word"):
    SecretStore(tmp_path / "data").put("mail", own, VALUE)
    call = json.dumps(
        {"ref": f"{{{{ref:{label}}}}}", "text": "<secret>mail</secret>", "submit": True}
    )
    report = await ask(
        f"Sign in at {at}",
        model=script(
            f"<<TOOL:OPEN:{at}>>", f"<<TOOL:TYPE:{call}>>", "<<TOOL:SNAPSHOT>>", "NOT_FOUND"
        ),
        allow_private=["127.0.0.1", "localhost"],
    )
    kept = b"".join(p.read_bytes() for p in (tmp_path / "data" / "runs").rglob("*") if p.is_file())
    assert VALUE.encode() not in kept
    assert b"drizzle-otter+7" not in kept
    return [e.data["data"].get("error", "") for e in events(report) if e.type == "tool.result"]


async def test_stored_secret_is_typed_on_its_origin_and_not_recorded(ask, script, events, tmp_path):
    with serving(Requests, Login) as site:
        errors = await typed(ask, script, events, tmp_path, site.base, f"{site.base}/")
    assert errors == ["", "", ""]
    assert site.posted == [b"word=drizzle-otter+7"]


@pytest.mark.parametrize(("path", "label"), [("/frame", "Word"), ("/", "Plain")])
async def test_stored_secret_is_refused_for_frames_and_plain_fields(
    ask, script, events, tmp_path, path, label
):
    with serving(Requests, Login) as site:
        errors = await typed(ask, script, events, tmp_path, site.base, site.base + path, label)
    assert "password field of the page itself" in errors[1]
    assert site.posted == []


@pytest.mark.parametrize(
    "own",
    ["http://localhost:9", "http://127.0.0.1:9", "https://{host}", "http://sub.localhost:{port}", "http://127.0.0.2:{port}",
      "http://localhost:{port}"],
)  # fmt: skip
@pytest.mark.sample(3)
async def test_stored_secret_is_refused_on_other_origins(ask, script, events, tmp_path, own):
    with serving(Requests, Login) as site:
        host = site.base.removeprefix("http://")
        own = own.format(host=host, port=host.rpartition(":")[2])
        errors = await typed(ask, script, events, tmp_path, own, f"{site.base}/")
    assert "no secret with that name may be used on this site" in errors[1]
    assert site.posted == []


@pytest.mark.parametrize("path", ["/away", "/other-frame", "/blank", "/srcdoc"])
async def test_stored_secret_is_refused_after_redirect_or_in_frame(
    ask, script, events, tmp_path, path
):
    """The user's origin redirects or is redirected: what asks is on another one, or in a frame."""
    with serving(Requests, Login) as site:
        elsewhere = site.base.replace("127.0.0.1", "localhost")
        own = elsewhere if path == "/away" else site.base
        errors = await typed(ask, script, events, tmp_path, own, own + path)
    assert any(errors)
    assert site.posted == []


LOGIN = """<title>Sign in</title><form method=post action=/in>
<label>Word <input type=password name=word></label><button>Log in</button>
<button formaction=OTHER/in>Log in there</button><button type=button>Help</button></form>
<form method=post action=/gone><button>Delete account</button></form>
<form method=post action=OTHER/in><label>Away <input type=password name=word></label>
<button>Send</button></form>"""


class LoginRequests(Requests):
    def get(self) -> None:
        other = self.server.site.base.replace("127.0.0.1", "localhost")
        self.send(200, "text/html", LOGIN.replace("OTHER", other).encode())

    def post(self, body: bytes) -> None:
        super().post(self.path.encode() + b" " + body)


async def logged_in(ask, script, events, tmp_path, question: str, call: str, label: str = "Word"):
    """Type the secret and make one more call; returns the site, the call's error and the events."""
    with serving(LoginRequests, Login) as site:
        SecretStore(tmp_path / "data").put("mail", site.base, VALUE)
        typing = json.dumps({"ref": f"{{{{ref:{label}}}}}", "text": "<secret>mail</secret>"})
        report = await ask(
            question.replace("SITE", site.base),
            model=script(
                f"<<TOOL:OPEN:{site.base}/>>",
                f"<<TOOL:TYPE:{typing}>>",
                "<<TOOL:SNAPSHOT>>",
                call,
                "NOT_FOUND",
            ),
            allow_private=["127.0.0.1", "localhost"],
        )
    recorded = events(report)
    results = [e.data["data"] for e in recorded if e.type == "tool.result"]
    return site, results[-1].get("error", ""), [e for e in recorded if e.type == "policy.approved"]


NAMED = "Log in at SITE with the secret mail. What is new?"
ENTER = '<<TOOL:PRESS:{"keys": "Enter"}>>'


@pytest.mark.parametrize("call", ["<<TOOL:CLICK:{{ref:Log in}}>>", ENTER])
async def test_secret_named_in_question_may_submit_its_login_form(
    ask, script, events, tmp_path, call
):
    site, error, approved = await logged_in(ask, script, events, tmp_path, NAMED, call)
    assert not error
    assert site.posted == [b"/in word=drizzle-otter+7"]
    assert [e.data["by"] for e in approved] == ["secret mail"]


@pytest.mark.parametrize(
    ("question", "call", "label"),
    [
        ("Log in at SITE. What is new?", "<<TOOL:CLICK:{{ref:Log in}}>>", "Word"),
        (NAMED, "<<TOOL:CLICK:{{ref:Delete account}}>>", "Word"),
        (NAMED, "<<TOOL:CLICK:{{ref:Log in there}}>>", "Word"),
        (NAMED, "<<TOOL:CLICK:{{ref:Help}}>>", "Word"),
        (NAMED, "<<TOOL:CLICK:{{ref:Send}}>>", "Away"),
        (NAMED, '<<TOOL:PRESS:{"keys": "Tab Tab Enter"}>>', "Word"),
    ],
)
@pytest.mark.sample(3)
async def test_named_secret_does_not_approve_other_submissions(
    ask, script, events, tmp_path, question, call, label
):
    site, error, approved = await logged_in(ask, script, events, tmp_path, question, call, label)
    assert "needs a" in error
    assert not site.posted
    assert not approved


async def test_form_posting_elsewhere_is_not_submitted_with_secret(ask, script, events, tmp_path):
    with serving(LoginRequests, Login) as site:
        errors = await typed(ask, script, events, tmp_path, site.base, f"{site.base}/", "Away")
    assert "sends the password to another site" in errors[1]
    assert site.posted == []


def test_secret_command_sets_lists_and_removes(run, tmp_path):
    assert (
        run(
            "secret", "set", "mail", "--origin", "https://mail.test/x", stdin=f"{VALUE}\n"
        ).returncode
        == 0
    )
    listed = run("secret", "list").stdout
    assert listed.split() == ["mail", "https://mail.test"]
    assert (tmp_path / "data" / FILE).stat().st_mode & 0o777 == 0o600
    assert run("secret", "rm", "mail").returncode == 0
    assert run("secret", "rm", "mail").returncode == 2


def test_secret_origin_must_be_a_web_address(tmp_path):
    with pytest.raises(UsageError, match="not an origin"):
        SecretStore(tmp_path).put("mail", "mail", VALUE)


@pytest.mark.parametrize(
    ("text", "name"), [("<secret>a</secret>", "a"), ("a", ""), ("x <secret>a</secret>", "")]
)
def test_secret_name_must_be_the_whole_text(text, name):
    assert secret_name(text) == name


@pytest.mark.parametrize(
    ("asked", "seen"),
    [("with mail", ("Inside the gate.",)), ("", ("Ask the porter.", "--yes login@127.0.0.1"))],
)
async def test_http_auth_uses_stored_secret_named_in_question(
    ask, script, events, tmp_path, asked, seen
):
    with serving(Requests, Login) as site:
        SecretStore(tmp_path / "data").put("mail", site.base, f"ada:{VALUE}")
        report = await ask(
            f"Sign in at {site.base}/gate {asked}",
            model=script(f"<<TOOL:OPEN:{site.base}/gate>>", "NOT_FOUND"),
            allow_private=["127.0.0.1"],
        )
    [result] = [e.data for e in events(report) if e.type == "tool.result"]
    assert all(text in json.dumps(result) for text in seen)
    kept = [p.read_bytes() for p in (tmp_path / "data" / "runs").rglob("*") if p.is_file()]
    assert not any(VALUE.encode() in file for file in kept)
