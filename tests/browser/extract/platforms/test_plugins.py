"""A parser from an installed package is found and used; a broken one is skipped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]
PLUGIN = '''
from browser.extract.platforms import Platform, Record

class Harbour(Platform):
    """Boats."""

    name = "harbour"
    hosts = ("harbour.example",)

    def parse(self, source):
        title = source.text("h1")
        return Record(self.name, "boat", source.url, title=title) if title else None
'''
PARSE_SCRIPT = """
import json
from browser.extract.platforms import all_platforms, parse_platform
record = parse_platform("https://boats.harbour.example/1", "<h1>Ada</h1>")
print(json.dumps([record and [record.platform, record.kind, record.title], len(all_platforms())]))
"""


def test_installed_package_provides_a_parser(tmp_path: Path) -> None:
    before = parse_in_fresh_process({})
    installed(tmp_path, "harbour = harbour_urchin:Harbour")
    found, known = parse_in_fresh_process({"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"})
    assert before[0] is None
    assert found == ["harbour", "boat", "Ada"]
    assert known == before[1] + 1


def test_unloadable_package_is_skipped(tmp_path: Path) -> None:
    installed(tmp_path, "harbour = harbour_urchin:Nothing")
    found, known = parse_in_fresh_process(
        {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "PYTHONWARNINGS": "ignore"}
    )
    assert (found, known) == (None, parse_in_fresh_process({})[1])


def installed(folder: Path, entry: str) -> None:
    """A distribution as installed by pip: its module, and its metadata beside it."""
    (folder / "harbour_urchin.py").write_text(PLUGIN)
    info = folder / "harbour_urchin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: harbour-urchin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[urchin.platforms]\n{entry}\n")


def parse_in_fresh_process(environment: dict[str, str]) -> list[object]:
    """Return what a fresh Python process reads from a page on the plug-in's site."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    run = subprocess.run(
        [sys.executable, "-c", PARSE_SCRIPT],
        env=settings,
        capture_output=True,
        text=True,
        check=True,
    )
    answer: list[object] = json.loads(run.stdout)
    return answer
