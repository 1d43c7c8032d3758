"""Timestamped runs: an external authority confirms since when a run is unchanged."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.calendars import HEIGHT, calendar
from tests.timestamping import NAME, authority


@pytest.fixture
def stamping(tmp_path):
    with authority(tmp_path) as running:
        yield running


@pytest.fixture
def sealed(run, web, answering, stamping):
    run("When?", "--model", answering, *web)
    assert run("runs", "seal", "last", "--authority", stamping.url).returncode == 0


def test_verify_shows_timestamp_of_run_and_archive(run, sealed, stamping, tmp_path):
    run("export", "last", str(tmp_path / "run.zip"))
    for name in ("last", str(tmp_path / "run.zip")):
        done = run("verify", name, "--roots", str(stamping.roots))
        assert done.returncode == 0, done.stderr
        assert (
            f"existed at {stamping.says:%Y-%m-%d %H:%M:%S} UTC, according to {NAME}" in done.stdout
        )


def test_openssl_verifies_timestamp_independently(run, sealed, stamping, tmp_path):
    if not shutil.which("openssl"):
        pytest.skip("no openssl here")
    [token] = (tmp_path / "data" / "runs").glob("*/head.tsr")
    head = run("verify", "last", "--head", "--roots", str(stamping.roots)).stdout.strip()
    asked = ["openssl", "ts", "-verify", "-digest", head, "-in", str(token)]
    done = subprocess.run([*asked, "-CAfile", str(stamping.roots)], check=False, text=True,
                          capture_output=True)  # fmt: skip
    assert "Verification: OK" in done.stdout + done.stderr


def test_truncated_journal_invalidates_timestamp(run, sealed, stamping, tmp_path):
    [journal] = (tmp_path / "data" / "runs").glob("*/journal.jsonl")
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    done = run("verify", "last", "--roots", str(stamping.roots))
    assert done.returncode == 8
    assert "head.tsr: the timestamp is not valid" in done.stdout


def test_verify_fails_without_trusted_root_for_authority(run, sealed):
    done = run("verify", "last")
    assert done.returncode == 8
    assert "--roots" in done.stdout


def test_unreachable_authority_leaves_run_verifiable(run, web, answering):
    run("When?", "--model", answering, *web)
    done = run("runs", "seal", "last", "--authority", "http://127.0.0.1:9/")
    assert done.returncode == 6
    assert run("verify", "last").returncode == 0


@pytest.fixture
def calendars():
    with calendar() as running:
        yield running


@pytest.fixture
def anchored(run, web, answering, calendars):
    run("When?", "--model", answering, *web)
    done = run("runs", "seal", "last", "--calendar", calendars.url)
    assert done.returncode == 0, done.stderr


def test_calendar_attestation_is_reported_as_pending(run, anchored, calendars):
    done = run("verify", "last")
    assert done.returncode == 0
    assert "head.ots: pending" in done.stdout
    assert "existed at" not in done.stdout


def test_bitcoin_block_confirms_run_and_archive(run, anchored, calendars, tmp_path):
    asked = ("runs", "seal", "last", "--complete", "--calendar", calendars.url)
    assert "still pending" in run(*asked).stdout
    calendars.mined = True
    assert "proof is complete" in run(*asked).stdout
    run("export", "last", str(tmp_path / "run.zip"))
    block = ("--block", f"{HEIGHT}={calendars.header()}")
    for name in ("last", str(tmp_path / "run.zip")):
        done = run("verify", name, *block)
        assert done.returncode == 0, done.stderr
        assert f"2023-10-16 23:46:40 UTC, according to Bitcoin block {HEIGHT}" in done.stdout


def test_truncated_journal_invalidates_calendar_proof(run, anchored, tmp_path):
    [journal] = (tmp_path / "data" / "runs").glob("*/journal.jsonl")
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    done = run("verify", "last")
    assert done.returncode == 8
    assert "head.ots: the timestamp is not valid" in done.stdout


def test_unreachable_calendar_leaves_pending_proof_unchanged(run, anchored, calendars):
    done = run("runs", "seal", "last", "--calendar", "http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (6, "")
    assert "Try again later" in done.stderr
    assert (
        f"pending: no Bitcoin block contains it yet; {calendars.url}"
        in run("verify", "last").stdout
    )


@pytest.mark.parametrize(
    "args",
    [
        ("runs", "seal", "last"),
        ("runs", "seal", "last", "--complete"),
        ("verify", "last", "--block", "812345"),
        ("verify", "last", "--block", "812345=00"),
    ],
)
def test_invalid_seal_and_block_arguments_exit_2(run, web, answering, args):
    run("When?", "--model", answering, *web)
    done = run(*args)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr
