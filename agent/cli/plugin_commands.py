"""`research plugins`: what installed packages bring, and whether it loads."""

from __future__ import annotations

import json

import click

from browser.plugins import KINDS, PluginBroken
from browser.plugins import plugins as installed
from browser.text.words import clean


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def plugins(as_json: bool) -> int:  # noqa: FBT001
    """List the plug-ins of installed packages by kind; one that does not load says why."""
    rows = []
    for plugin in (one for kind in KINDS for one in installed(kind)):
        broken = ""
        try:
            plugin.load()
        except PluginBroken as error:
            broken = str(error)
        rows.append(
            {
                "kind": plugin.kind,
                "name": plugin.name,
                "package": plugin.package,
                "version": plugin.version,
                "place": plugin.entry.value,
                "broken": broken,
            }
        )
    if as_json:
        print(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        state = f"left out: {row['broken']}" if row["broken"] else row["place"]
        head = f"{row['kind']:10} {row['name']:16} {row['package']} {row['version']}"
        print(clean(f"{head}  {state}"))
    return 0
