"""The picture in docs/ARCHITECTURE.md shows the packages that there are, in their layers."""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
_PART = re.compile(r"\b(?:agent|browser)\.[a-z_]+\b")


def picture() -> list[str]:
    """The parts named in the boxes of the picture, from the top."""
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawn = text.split("```text")[1].split("```")[0]
    boxes = [line for line in drawn.splitlines() if line.startswith(" │ ")]
    return [part for line in boxes for part in _PART.findall(line)]


def parts() -> set[str]:
    """The modules and packages directly below the two roots."""
    found: set[str] = set()
    for root in ("agent", "browser"):
        for entry in (ROOT / root).iterdir():
            is_package = entry.is_dir() and any(entry.glob("**/*.py"))
            is_module = entry.suffix == ".py" and not entry.stem.startswith("_")
            if is_package or is_module:
                found.add(f"{root}.{entry.stem}")
    return found


def test_every_part_is_drawn_once() -> None:
    drawn = picture()
    assert sorted(drawn) == sorted(parts())


def test_layers_are_drawn_in_the_order_that_imports_hold() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    drawn = picture()
    for contract in settings["tool"]["importlinter"]["contracts"]:
        layers = [set(_PART.findall(layer)) & set(drawn) for layer in contract.get("layers", [])]
        places = [[drawn.index(part) for part in layer] for layer in layers if layer]
        for above, below in itertools.pairwise(places):
            assert max(above) < min(below)
