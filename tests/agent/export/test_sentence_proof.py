"""The proof of one sentence, on a machine that has only the file."""

from __future__ import annotations

import hashlib
import json
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from agent.errors import UsageError
from agent.export.sentence_proof import export_proof, link_to_quote, verify_proof
from agent.types import Report
from tests.timestamping import NAME, authority


@pytest.fixture
def proof(finished, tmp_path):
    """Export the proof of a supported sentence; returns the file."""
    export_proof(finished.path, 1, tmp_path / "proof.zip")
    return tmp_path / "proof.zip"


def rewrite_proof(path, change):
    """Rewrite a proof with its files as modified by `change`."""
    with zipfile.ZipFile(path) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
        comment = packed.comment
    changed = path.with_name("changed.zip")
    with zipfile.ZipFile(changed, "w") as packed:
        for name, body in change(files).items():
            packed.writestr(name, body)
        packed.comment = comment
    return changed


def test_proof_is_self_contained_and_verifies(proof):
    found = verify_proof(proof)
    assert (found.flaws, found.by_code) == ((), True)
    [source] = found.proof.sources
    with zipfile.ZipFile(proof) as packed:
        folder = packed.namelist()[0].partition("/")[0]
        text, page, html = (
            packed.read(f"{folder}/{name}") for name in (source.text, source.page, "proof.html")
        )
    assert source.quotes[0] in text.decode()
    assert hashlib.sha256(text).hexdigest() == source.sha256
    assert hashlib.sha256(page).hexdigest() == source.page_sha256
    assert b"<html" in page
    assert datetime.fromisoformat(source.fetched_at).tzinfo is not None
    assert source.links[0].startswith(f"{source.url}#:~:text=")
    assert source.links[0] in html.decode().replace("&amp;", "&")


def test_any_change_to_proof_is_detected(proof):
    def replace(old, new, ends):
        def change(files):
            return {
                name: body.replace(old, new) if name.endswith(ends) else body
                for name, body in files.items()
            }

        return change

    assert verify_proof(proof).flaws == ()
    for change in (
        replace(b"1829", b"1831", ".txt"),
        replace(b"1829", b"1831", "proof.json"),
        replace(b"Hesk", b"Brack", "page-1.html"),
        lambda files: {name: body for name, body in files.items() if not name.endswith(".txt")},
        lambda files: files | {"other/proof.json": b"{}"},
        lambda files: dict.fromkeys(files, b"{}"),
    ):
        assert verify_proof(rewrite_proof(proof, change)).flaws


def test_forged_sentence_fails_even_with_matching_hashes(proof):
    def forge(files):
        [name] = [name for name in files if name.endswith("proof.json")]
        data = json.loads(files[name])
        data["sentence"]["text"] = "It was first lit on 1 November 1831."
        files[name] = json.dumps(data).encode()
        listed = "".join(
            f"{hashlib.sha256(body).hexdigest()}  {Path(file).name}\n"
            for file, body in files.items()
            if not file.endswith("manifest-sha256.txt")
        )
        return {
            file: listed.encode() if file.endswith("manifest-sha256.txt") else body
            for file, body in files.items()
        }

    whats = [flaw.what for flaw in verify_proof(rewrite_proof(proof, forge)).flaws]
    assert "the sentence does not appear word for word in the saved pages" in whats


def test_proof_is_exported_timestamped_and_verified_by_commands(run, web, site, script, tmp_path):
    read = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    model = script(read, "It was first lit on 1 November 1829. [S1]")
    run("When?", "--model", model, *web)
    path = str(tmp_path / "proof.zip")
    with authority(tmp_path) as stamping:
        made = run("export", "last", "--sentence", "1", "--authority", stamping.url, path)
        assert made.returncode == 0, made.stderr
        elsewhere = {"RESEARCH_DATA_DIR": str(tmp_path / "elsewhere")}
        done = run("verify", path, "--roots", str(stamping.roots), **elsewhere)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "is supported (found again by code)" in done.stdout
    assert f"according to {NAME}" in done.stdout
    assert run("verify", path, **elsewhere).returncode == 8  # nobody vouches for the authority
    assert run("export", "last", "--sentence", "99", path).returncode == 2
    assert run("export", "last", "--sentence", "1", str(tmp_path / "proof.md")).returncode == 2


def test_proof_requires_existing_cited_sentence(finished, tmp_path):
    with pytest.raises(UsageError, match="has no sentence 99"):
        export_proof(finished.path, 99, tmp_path / "proof.zip")
    report = Report.model_validate_json(finished.report.read_bytes())
    report.sentences[0].citations = []
    finished.report.write_text(report.to_json())
    with pytest.raises(UsageError, match="cites no source"):
        export_proof(finished.path, 1, tmp_path / "proof.zip")


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("It opened in 1898.", "It%20opened%20in%201898."),
        ("| Heron | 24 | 1998 |", "Heron,1998"),
        (
            "one two three four five six seven eight-nine ten eleven, twelve thirteen",
            "one%20two%20three%20four%20five,eight%2Dnine%20ten%20eleven%2C%20twelve%20thirteen",
        ),
    ],
)
def test_quote_link_uses_text_fragment(quote, text):
    link = link_to_quote("https://a.example/page#top", quote)
    assert link == f"https://a.example/page#:~:text={text}"
    assert link_to_quote("file:///notes.md", quote) == "file:///notes.md"
