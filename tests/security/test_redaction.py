"""Secrets from the environment are in no prompt, log, transcript, export or stream."""

from __future__ import annotations

import base64
import json
from functools import cache
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.guard.redact import PLACEHOLDER, Redactor, StreamRedactor, find_secrets, spellings
from tests.agent.models.wire import OpenAIProvider, running

pytestmark = pytest.mark.row(n=20)

CANARIES = [
    *(f"sk-proj-{n}aB3dE5gH7jK9mN1pQ" for n in range(10)),
    *(f"ghp_{n}9fK2mQ77xTz41bLw" for n in range(10)),
    *(f'p&ss w+rd/{n}?=%"quoted"' for n in range(10)),
    *(f"Schlüssel-{n}-äöü-geheim" for n in range(10)),
]
FORMS = {
    "plain": str,
    "in a URL": lambda s: quote(s, safe=""),
    "in JSON": lambda s: json.dumps(s)[1:-1],
    "in hex": lambda s: s.encode().hex(),
    "in base64": lambda s: base64.b64encode(s.encode()).decode(),
    "in base64 behind a name": lambda s: base64.b64encode(f"user:{s}".encode()).decode(),
    "in base64 between others": lambda s: base64.b64encode(f"a{s}b".encode()).decode(),
}


def core(form: str, secret: str) -> str:
    """Return the revealing part of a spelling: base64 without what surrounds it."""
    found = [s for s in spellings(secret) if s in form]
    return max(found, key=len)


@pytest.mark.parametrize("form", FORMS)
def test_redactor_removes_secrets_in_every_spelling(form):
    redactor = Redactor(CANARIES)
    for secret in CANARIES:
        spelt = FORMS[form](secret)
        said = redactor.text(f"It is {spelt}, they say.")
        assert core(spelt, secret) not in said
        assert PLACEHOLDER in said


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 3, 7])
@pytest.mark.sample(7)
def test_stream_redactor_removes_secret_split_across_chunks(form, size):
    for secret in CANARIES:
        spelt = FORMS[form](secret)
        text = f"Hello, it is {spelt} and nothing else."
        assert streamed(text, size) == redactor(tuple(CANARIES)).text(text)


@given(st.text(alphabet="abcde1é \n", max_size=60), st.integers(1, 9))
def test_stream_redaction_matches_whole_text_redaction(text, size):
    assert streamed(text, size, ["abcabcab1", "cabcabca", "eeeeeeee"]) == Redactor(
        ["abcabcab1", "cabcabca", "eeeeeeee"]
    ).text(text)


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("/tmp/users/ and user_name, superuser", "/tmp/users/ and [redacted]_name, superuser"),
        ("user", "[redacted]"),
        ("the user: user.", "the [redacted]: [redacted]."),
        (
            "a=%20user&b=user%20\\nuser useruser",
            "a=%20[redacted]&b=[redacted]%20\\n[redacted] useruser",
        ),
        ("pin 1234, not 12345 or 01234", "pin [redacted], not 12345 or 01234"),
        ("(x!y!) ax!y! x!y!b", "([redacted]) ax!y! [redacted]b"),
    ],
)
def test_short_secret_is_redacted_only_as_whole_token(text, redacted, size):
    short = Redactor()
    for secret in ("user", "1234", "x!y!"):
        short.add(secret)
    assert short.text(text) == redacted
    heard = []
    pieces = StreamRedactor(short, heard.append)
    for at in range(0, len(text), size):
        pieces(text[at : at + size])
    pieces.end()
    assert "".join(heard) == redacted


def test_long_secret_is_redacted_inside_words_and_encodings():
    longer = Redactor()
    longer.add("hunter2-hunter")
    encoded = base64.b64encode(b"user:hunter2-hunter").decode()
    said = longer.text(f"xhunter2-hunters {encoded}")
    assert said.startswith("x[redacted]s ")
    assert said.count(PLACEHOLDER) == 2


def test_stream_redactor_releases_harmless_text_promptly():
    heard = []
    pieces = StreamRedactor(Redactor(CANARIES), heard.append)
    pieces("The lamp was lit, sk-")
    assert "".join(heard) == "The lamp was lit, "
    pieces("ate is a fish.")
    assert "".join(heard) == "The lamp was lit, sk-ate is a fish."


def test_stream_restart_discards_held_text():
    heard = []
    pieces = StreamRedactor(Redactor(CANARIES), heard.append)
    for piece in ("sk-", None, "The lamp."):
        pieces(piece)
    pieces.end()
    assert heard == [None, "The lamp."]


def test_find_secrets_ignores_words_paths_and_numbers():
    environ = {
        "OPENAI_API_KEY": "sk-abcdefghijkl",
        "DB_PASSWORD": "hunter2hunter2",
        "GITHUB_TOKEN": "ghp_12345678",
        "SSH_AUTH_SOCK": "/tmp/ssh-1/agent.1",
        "KEY_FILE": "/home/me/key.pem",
        "TOKEN_LIMIT": "1234567890",
        "SECRET_MODE": "disabled",
        "MONKEY": "bananas-and-more",
        "HOME": "/home/somebody",
    }
    assert find_secrets(environ) == ["sk-abcdefghijkl", "hunter2hunter2", "ghp_12345678"]


@cache
def redactor(secrets):
    return Redactor(secrets)


def streamed(text, size, secrets=CANARIES):
    heard = []
    pieces = StreamRedactor(redactor(tuple(secrets)), heard.append)
    for at in range(0, len(text), size):
        pieces(text[at : at + size])
    pieces.end()
    return "".join(heard)


async def test_api_key_echoed_by_provider_is_redacted(ask, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("RESEARCH_CONFIG", str(tmp_path / "none.toml"))
    with running(OpenAIProvider, "/v1") as provider:
        provider.fails(401, f"Incorrect API key provided: {CANARY}.")
        report = await ask(model="openai/gpt-4.1", base_url=provider.url, config=True)
    assert provider.requests[0]["authorization"] == f"Bearer {CANARY}"
    assert PLACEHOLDER in report.error.message
    kept = b"".join(p.read_bytes() for p in (tmp_path / "data").rglob("*") if p.is_file())
    assert CANARY.encode() not in kept + report.to_json().encode()


CANARY = "sk-live-4f9A2bQ77xTz41bLw"


async def test_secret_shown_to_run_is_not_stored(ask, tmp_path, monkeypatch):
    """The page with the user's own notes contains a key, and the model repeats it."""
    monkeypatch.setenv("SHOP_API_KEY", CANARY)
    notes = tmp_path / "notes.md"
    notes.write_text(f"# Notes\n\nThe key of the shop is {CANARY}, the door code is blue.\n")
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps(f"<<THINK>>It is {CANARY}.<</THINK>>The key is {CANARY}. [S1¶1]"))
    heard = []
    report = await ask(
        "What is the key?", model=f"scripted:{script}", file=[notes], on_event=heard.append
    )
    told = [event.to_json() for event in heard]
    assert CANARY not in report.to_json() + "".join(told)
    assert PLACEHOLDER in "".join(told)
