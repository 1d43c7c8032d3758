"""Scripted tasks on real component libraries, played by tool tags and judged by the page itself.

    python -m bench.components [LIBRARY …] [-v]
    python -m bench.components --play LIBRARY N     (answer as the model; tags on stdin)

Prints for each library the tasks passed and the replies used; for each failure what the actions
reported, and whether that revealed the failure. Skipped with a note if npm or its registry is not
available.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys

from bench.components import framework_tasks as frameworks
from bench.components import further_tasks as further
from bench.components import later_tasks as later
from bench.components import widget_tasks as widgets
from bench.components.libraries import NotInstalled, built, served
from bench.player import Person, Played, Task, report, stage
from bench.shelf import Targets

LIBRARIES: dict[str, tuple[Task, ...]] = {
    "mui": frameworks.MUI,
    "antd": frameworks.ANTD,
    "element": frameworks.ELEMENT,
    "vuetify": frameworks.VUETIFY,
    "radix": frameworks.RADIX,
    "bootstrap": frameworks.BOOTSTRAP,
    "fullcalendar": frameworks.CALENDAR,
    "select2": widgets.SELECT2,
    "tomselect": widgets.TOMSELECT,
    "flatpickr": widgets.FLATPICKR,
    "aggrid": widgets.AGGRID,
    "tabulator": widgets.TABULATOR,
    "codemirror": widgets.CODEMIRROR,
    "monaco": widgets.MONACO,
    "quill": widgets.QUILL,
    "tinymce": widgets.TINYMCE,
    "leaflet": widgets.LEAFLET,
    "jstree": widgets.JSTREE,
    "datatables": widgets.DATATABLES,
    "sortable": widgets.SORTABLE,
    "reactwindow": widgets.REACT_WINDOW,
    "ace": widgets.ACE,
    "codemirror5": widgets.CODEMIRROR5,
    "xterm": widgets.XTERM,
    "clusterize": widgets.CLUSTERIZE,
    "lexical": widgets.LEXICAL,
    "fluent": frameworks.FLUENT,
    "ionic": frameworks.IONIC,
    "aria": frameworks.ARIA,
    "quasar": frameworks.QUASAR,
    "airdatepicker": further.AIRDATEPICKER,
    "tagify": further.TAGIFY,
    "handsontable": further.HANDSONTABLE,
    "pickr": further.PICKR,
    "dragula": further.DRAGULA,
    "toastui": further.TOASTUI,
    "ckeditor5": further.CKEDITOR5,
    "jqueryui": further.JQUERYUI,
    "slimselect": further.SLIMSELECT,
    "ui5": further.UI5,
    "wunderbaum": further.WUNDERBAUM,
    "fomantic": further.FOMANTIC,
    "materialize": further.MATERIALIZE,
    "arkui": further.ARKUI,
    "cmdk": further.CMDK,
    "virtuoso": further.VIRTUOSO,
    "dndkit": further.DNDKIT,
    "ionrange": further.IONRANGE,
    "tuigrid": further.TUIGRID,
    "cally": further.CALLY,
    "jsoneditor": further.JSONEDITOR,
    "primevue": later.PRIMEVUE,
    "chakra": later.CHAKRA,
    "revogrid": later.REVOGRID,
    "choices": later.CHOICES,
    "jspreadsheet": later.JSPREADSHEET,
    "kendo": later.KENDO,
    "tdesign": later.TDESIGN,
}
SHARE, REPLIES = 0.97, 2


async def measure(host: str, names: list[str], *, verbose: bool) -> list[Played]:
    """Play every task of the named libraries."""
    all_played: list[Played] = []
    async with stage(host) as theatre:
        for name in names:
            url = f"http://{host}/{name}.html"
            played = [await theatre.play(url, task) for task in LIBRARIES[name]]
            for number, one in enumerate(played, 1):
                print(report(f"{name} {number}", one, verbose=verbose), flush=True)
            all_played += played
            done = sum(one.done for one in played)
            print(f"{name}: {done} of {len(played)}\n", flush=True)
    return all_played


async def play(host: str, name: str, number: int) -> None:
    """Let a user answer as the model."""
    async with stage(host) as theatre:
        task = LIBRARIES[name][number - 1]
        print(report(name, await theatre.play(f"http://{host}/{name}.html", task, Person)))


def judge(played: list[Played]) -> int:
    """Print the figures beside their targets; return 8 if one is missed."""
    targets = Targets()
    done = [one for one in played if one.done]
    what = f"tasks done (of {len(played)})"
    targets.at_least(what, len(done) / len(played), SHARE)
    targets.at_most(
        "replies, median", statistics.median(p.replies for p in done or played), REPLIES
    )
    false = sum(not one.done and not one.honest for one in played)
    targets.at_most("failures that claim success", false, 0)
    return targets.code


def main() -> int:
    reader = argparse.ArgumentParser(prog="python -m bench.components")
    reader.add_argument("libraries", nargs="*", help="all, where none is named")
    reader.add_argument("--play", nargs=2, metavar=("LIBRARY", "N"), help="answer as the model")
    reader.add_argument("-v", "--verbose", action="store_true", help="show what was seen last")
    asked = reader.parse_args()
    try:
        site = built()
    except NotInstalled as error:
        print(f"skipped: {error}")
        return 0
    with served(site) as host:
        if asked.play:
            asyncio.run(play(host, asked.play[0], int(asked.play[1])))
            return 0
        names = asked.libraries or [*LIBRARIES]
        return judge(asyncio.run(measure(host, names, verbose=asked.verbose)))


if __name__ == "__main__":
    sys.exit(main())
