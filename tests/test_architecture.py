"""docs/ARCHITECTURE.md shows the existing packages, in their layers, and where to look."""

from __future__ import annotations

import ast
import itertools
import re
import tomllib
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from agent.mcp.browser_tools import BrowserTools
from agent.mcp.tool_session import CLIENT_NAMES
from agent.tools.toolset import BUILT_IN

ROOT = Path(__file__).parent.parent
_PART = re.compile(r"\b(?:agent|browser)\.[a-z_]+\b")


def parts_in_diagram() -> list[str]:
    """Return the parts named in the diagram's boxes, from the top."""
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawn = text.split("```text")[1].split("```")[0]
    boxes = [line for line in drawn.splitlines() if line.startswith(" │ ")]
    return [part for line in boxes for part in _PART.findall(line)]


def parts() -> set[str]:
    """Return the modules and packages directly below the two roots."""
    found: set[str] = set()
    for root in ("agent", "browser"):
        for entry in (ROOT / root).iterdir():
            is_package = entry.is_dir() and any(entry.glob("**/*.py"))
            is_module = entry.suffix == ".py" and not entry.stem.startswith("_")
            if is_package or is_module:
                found.add(f"{root}.{entry.stem}")
    return found


def test_diagram_shows_every_part_once() -> None:
    drawn = parts_in_diagram()
    assert sorted(drawn) == sorted(parts())


def test_diagram_order_matches_import_layers() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    drawn = parts_in_diagram()
    for contract in settings["tool"]["importlinter"]["contracts"]:
        layers = [set(_PART.findall(layer)) & set(drawn) for layer in contract.get("layers", [])]
        places = [[drawn.index(part) for part in layer] for layer in layers if layer]
        for above, below in itertools.pairwise(places):
            assert max(above) < min(below)


def test_architecture_page_paths_exist_and_hold_named_definitions() -> None:
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = re.findall(r"`([a-z_/]+/(?:[a-z_]+\.(?:py|js|html))?)`", text)
    assert len(paths) > 60
    assert [path for path in paths if not (ROOT / path).exists()] == ["blobs/"]  # of a run
    for name, path in re.findall(r"`(\w+)`\s+in\s+`([^`]+)`", text):
        defined = rf"^(class|(async )?def) {name}\b"
        assert re.search(defined, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), name


MAX_IMPORTS = 15
"""Maximum number of our modules that one module loads: with more, it covers several subjects."""


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the project, parsed, by its dotted name."""
    found = {}
    for path in itertools.chain((ROOT / "agent").rglob("*.py"), (ROOT / "browser").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imports_of(
    tree: ast.AST, known: dict[str, ast.Module], *, types: bool = True, functions: bool = True
) -> set[str]:
    """Return our modules that a module imports, including those for `types` and in `functions`."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):  # holds no statement
            continue
        inside_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        if (functions or not inside_function) and (types or not for_types):
            found |= imports_of(node, known, types=types, functions=functions)
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found |= {name if name in known else node.module} & known.keys()
    return found


def test_modules_have_no_import_cycles() -> None:
    known = modules()
    graph = {name: imports_of(tree, known) - {name} for name, tree in known.items()}
    in_order = list(TopologicalSorter(graph).static_order())  # CycleError names a ring
    assert set(in_order) == set(known)


def test_modules_stay_within_import_limit() -> None:
    known = modules()
    counted = {
        name: len(imports_of(tree, known, types=False, functions=False))
        for name, tree in known.items()
    }
    assert {name: n for name, n in counted.items() if n > MAX_IMPORTS} == {}


MAX_CHAIN = 14
"""Maximum modules from a command down to one that imports none of ours, in functions too."""


def test_import_chains_stay_within_length_limit() -> None:
    known = modules()
    graph = {n: imports_of(tree, known, types=False) - {n} for n, tree in known.items()}
    chains: dict[str, list[str]] = {}
    for name in TopologicalSorter(graph).static_order():
        chains[name] = [name, *max((chains[below] for below in graph[name]), key=len, default=[])]
    longest = max(chains.values(), key=len)
    assert len(longest) <= MAX_CHAIN, " > ".join(longest)


CALLERS_BY_NAME = {
    "agent.keyless.conversation": "the extractive model sees calls and results as messages",
    "agent.keyless.live_page": "the extractive model writes its calls by name, as any model does",
    "agent.keyless.researcher": "the extractive model writes its calls by name, as any model does",
    "agent.cli.browser_session": "each command makes one call",
    "agent.mcp.browser_tools": "each tool for MCP clients makes one call",
    "agent.mcp.claims": "reads the client's pages",
    "agent.mcp.server": "each tool for MCP clients makes one call",
    "agent.mcp.tool_session": "translates the names for MCP clients",
}
"""Modules outside `agent.tools` that name tools, and the reason why they must.

All others use what the tools declare: the fields of `Tool` in `agent/tools/registry.py`, and its
`ToolTrait`s, which each result carries.
"""


def test_only_callers_name_tools() -> None:
    naming = {
        module
        for module, tree in modules().items()
        if not module.startswith("agent.tools.") and module != "agent.jobs.task_tools"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if (names := set(node.value.split())) and names <= BUILT_IN
    }
    assert naming == CALLERS_BY_NAME.keys()
    for script in (ROOT / "agent" / "serve" / "static").glob("*.js"):
        words = set(re.findall(r"\w+", script.read_text(encoding="utf-8")))
        assert words & BUILT_IN == set(), script.name


def test_mcp_clients_know_the_names_of_all_tools_that_they_can_call() -> None:
    calling = [modules()[f"agent.mcp.{name}"] for name in ("browser_tools", "server", "claims")]
    texts = {n.value for tree in calling for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    assert texts & BUILT_IN <= CLIENT_NAMES.keys()
    named = {f"browser_{name}" for name in vars(BrowserTools) if not name.startswith("_")}
    assert set(CLIENT_NAMES.values()) <= named | {"read", "search"}


def test_class_names_are_unique() -> None:
    places = defaultdict(set)
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].add(name)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_tests_do_not_import_benchmarks() -> None:
    tests = (ROOT / "tests").rglob("*.py")
    found = [
        str(path)
        for path in tests
        if re.search(r"^\s*(from|import) bench\b", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert found == []


def test_bench_readme_lists_every_script() -> None:
    text = (ROOT / "bench" / "README.md").read_text("utf-8")
    listed = set(re.findall(r"`([a-z_]+)(?:\.py)?`", text))
    scripts = {path.stem for path in (ROOT / "bench").glob("*.py")} | {"components"}
    assert listed == scripts - {"__main__"}
