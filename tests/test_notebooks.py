"""The documentation's notebooks run from top to bottom."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parent.parent / "docs" / "notebooks"
LIT = "It was first lit on 1 November 1829. [S1]"


def test_notebooks_run_and_show_promised_output(site, tmp_path, monkeypatch):
    read = f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>'
    replies = {
        "answer": (read, LIT),
        "own_files": (),  # without a language model
        "streams": (read, LIT),
        "tools": ('<<TOOL:TIDES:{"port":"Hesk"}>>', "High tide in Hesk is at 14:05. [S1]"),
    }
    shown = {
        "answer": ("supported It was first lit", "@misc{", "<q>It was first lit"),
        "own_files": ("Ida Marrin", "not_found"),
        "streams": ("read", "1 November 1829", "2"),
        "tools": ("14:05",),
    }
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RESEARCH_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("RESEARCH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("RESEARCH_SEARCH", "searxng")
    monkeypatch.setenv("RESEARCH_SEARXNG_URL", site.url)
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(replies)
    client = NotebookClient(nbformat.v4.new_notebook(), timeout=120, kernel_name="python3")
    with client.setup_kernel():  # one for all, emptied before each: most of the time is its start
        for name, said in replies.items():
            script = tmp_path / f"{name}.jsonl"
            script.write_text("".join(json.dumps(reply) + "\n" for reply in said))
            model = f"scripted:{script}" if said else "extractive"
            empty = f"%reset -f\nimport os\nos.environ['RESEARCH_MODEL'] = {model!r}\ndel os"
            notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
            notebook.cells.insert(0, nbformat.v4.new_code_cell(empty))
            client.nb = notebook
            client.reset_execution_trackers()
            for number, cell in enumerate(notebook.cells):
                client.execute_cell(cell, number)
            outputs = json.dumps(
                [cell.get("outputs") for cell in notebook.cells], ensure_ascii=False
            )
            missing = [words for words in shown[name] if words not in outputs.replace('\\"', '"')]
            assert missing == [], (name, outputs[:4_000])
