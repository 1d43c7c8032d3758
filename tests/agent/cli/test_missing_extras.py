"""Without a format's libraries, what needs them names the extra and the rest works."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pexpect
import pytest
from docx import Document

from tests.conftest import COMMAND

ROOT = Path(__file__).parents[3]
XLS = bytes.fromhex("d0cf11e0a1b11ae1") + "Workbook".encode("utf-16-le")


@pytest.fixture
def lacking(tmp_path):
    """Return an environment in which these modules are not installed."""

    def environment(*modules: str) -> dict[str, str]:
        folder = tmp_path / "lacking"
        folder.mkdir()
        lines = [f"sys.modules[{name!r}] = None" for name in modules]
        (folder / "sitecustomize.py").write_text("\n".join(["import sys", *lines]))
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "RESEARCH_DATA_DIR": str(tmp_path / "data"),
            "PYTHONPATH": str(folder),
        }

    return environment


def run_installed(*args: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the installed command, since a forked process would have the libraries loaded."""
    return subprocess.run(
        [COMMAND, *args],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_schema_without_jsonschema_names_extra(web, lacking, tmp_path):
    (tmp_path / "s.json").write_text('{"type": "object"}')
    schema = ("--schema", str(tmp_path / "s.json"))
    done = run_installed("Q?", *web, *schema, env=lacking("jsonschema"))
    assert done.returncode == 2
    assert "urchin-research[schema]" in done.stderr


@pytest.mark.parametrize("module", ["mammoth", "openpyxl", "xlrd"])
def test_missing_office_extra_is_named_and_other_files_are_read(lacking, tmp_path, module):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pump.md").write_text("# Pump\n\nIda repaired the pump on 3 May 2024.\n")
    if module == "openpyxl":
        openpyxl = pytest.importorskip("openpyxl")
        openpyxl.Workbook().save(notes / "book.xlsx")
    elif module == "mammoth":
        written = Document()
        written.add_paragraph("Ida repaired the pump on 4 May 2024.")
        written.save(notes / "log.docx")
    else:
        (notes / "book.xls").write_bytes(XLS)
    flags = ("--corpus", str(notes), "--search", "corpus", "--no-memory")
    done = run_installed("Who repaired the pump?", *flags, env=lacking(module))
    assert "Ida repaired the pump" in done.stdout
    assert "urchin-research[office]" in done.stderr


def test_chat_without_prompt_toolkit_names_extra_and_reads_lines(lacking, web, tmp_path):
    child = pexpect.spawn(
        str(COMMAND), ["chat", *web],
        env={"TERM": "xterm", **lacking("prompt_toolkit")},
        cwd=tmp_path, dimensions=(30, 200), encoding="utf-8", timeout=60,
    )  # fmt: skip
    child.expect_exact("urchin-research[chat]")
    child.sendline("/help")
    child.expect_exact("end\r\n? ")  # the next prompt: before it, the end of the input may be lost
    child.sendeof()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_ui_without_textual_names_extra(lacking):
    done = run_installed("ui", env=lacking("textual"))
    assert done.returncode == 2
    assert "urchin-research[ui]" in done.stderr
    assert "`research runs`" in done.stderr


def test_all_extra_includes_everything_but_local_and_litellm():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    named = set(re.search(r"\[(.+)\]", extras["all"][0])[1].split(","))
    assert named == extras.keys() - {"all", "local", "litellm"}


def test_extras_named_in_hints_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    code = [
        path.read_text("utf-8")
        for name in ("agent", "browser")
        for path in (ROOT / name).rglob("*.py")
    ]
    named = {one for text in code for one in re.findall(r"urchin-research\[([a-z]+)\]", text)}
    assert named
    assert named <= extras.keys()
