"""`research browser`: one session for many commands, with output as short as the tools' results."""

from __future__ import annotations

import os

import pytest

PAGE = "/search"


@pytest.fixture
def browser(run):
    """Run a command in the session, which is closed at the end."""
    # The process of the session is started as a module of this tree.
    tree = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}

    def running(*words):
        return run("browser", *words, **tree)

    yield running
    running("close")


def ref_of(text: str, what: str) -> str:
    """Return the ref of a control in a page's text."""
    return text.partition(f" {what}")[0].rpartition("[")[2]


def test_commands_share_one_session_until_it_is_closed(browser, site, tmp_path):
    host = site.url.removeprefix("http://")
    opened = browser("open", f"{site.url}/login", "--allow-private", host)
    assert opened.returncode == 0, opened.stderr
    assert opened.stdout.startswith(f"{site.url}/login")
    assert "<web>" in opened.stdout
    name = ref_of(opened.stdout, "textbox: Name")
    typed = browser("type", name, "Ada")
    assert typed.stdout.startswith(f"typed into [{name}] textbox Name")
    assert "Name = Ada" in typed.stdout
    found = browser("find", "textbox")
    assert found.returncode == 0
    assert browser("find", "no such words anywhere").returncode == 8
    failed = browser("click", "e999")
    assert failed.returncode == 8
    assert "e999 is not a ref on this page" in failed.stdout
    folder = tmp_path / "data" / "browser" / "default"
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "socket").stat().st_mode & 0o077 == 0
    assert browser("screenshot", str(tmp_path / "page.png")).returncode == 0
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    assert browser("close").stdout.strip() == "closed"
    closed = browser("snapshot")
    assert closed.returncode == 2
    assert "no browser session is running" in closed.stderr


def test_private_address_is_refused_without_allow_private(browser, site):
    opened = browser("open", site.url)
    assert opened.returncode == 8
    assert "--allow-private" in opened.stdout


def test_skills_install_writes_browser_skill_with_existing_commands(run, tmp_path):
    assert "wrote" in run("skills", "install", "claude").stdout
    text = (tmp_path / ".claude" / "skills" / "urchin-browser" / "SKILL.md").read_text()
    assert text.startswith("---\nname: urchin-browser\n")
    commands = run("browser", "--help").stdout
    named = [
        line.split()[2] for line in text.splitlines() if line.startswith("    research browser")
    ]
    assert all(name in commands for name in named)
    unknown = run("skills", "install", "nobody")
    assert unknown.returncode == 2
    assert "claude, codex" in unknown.stderr
