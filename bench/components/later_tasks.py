"""Tasks on libraries played later: lists, chips, sheets, pinned columns, swapped fields."""

from __future__ import annotations

from bench.player import At, Task, choose, click, enter, find

_LIST = "combobox|select|clickable"
PRIMEVUE = (
    Task(
        "Choose the port Edam.",
        ((choose(At("Choose a port", "combobox"), "Edam"),),),
        "values.port === 'Edam'",
    ),
    Task(
        "Choose the gear Oars and Lamp.",
        ((choose(At("Gear", _LIST), "Oars; Lamp"),),),
        "values.gear.join() === 'Oars,Lamp' && values.port === null",
    ),
    Task(
        "Set the arrival to 17 March 2027.",
        ((enter(At("Arrival", "combobox|textbox"), "03/17/2027"),),),
        "values.arrival?.toDateString() === 'Wed Mar 17 2027'",
    ),
)
CHAKRA = (
    Task("Choose a ketch.", ((choose(At("Rig", "combobox"), "Ketch"),),), "values.rig === 'Ketch'"),
    Task("Set the crew to 7.", ((enter(At("Crew", "spinbutton"), "7"),),), "values.crew === '7'"),
    Task("Set the depth to 65.", ((enter(At("Depth", "slider"), "65"),),), "values.depth === 65"),
)
REVOGRID = (
    Task(
        "Set the length of Boat 3 to 7.",
        (
            (click(At("30", "gridcell", near="Boat 3"), count=2),),
            (enter(At("30", "textbox"), "7", submit=True),),
        ),
        "String(rowOf('Boat 3').length) === '7'",
    ),
    Task(
        "Set the length of Boat 250 to 5.",
        (
            (find("Boat 250"),),
            (click(At("2500", "gridcell", near="Boat 250"), count=2),),
            (enter(At("2500", "textbox"), "5", submit=True),),
        ),
        "String(rowOf('Boat 250').length) === '5'",
    ),
)
CHOICES = (
    Task(
        "Choose the port Urk.",
        ((choose(At("Hoorn", "combobox"), "Urk"),),),
        "chosen('port') === 'Urk'",
    ),
    Task(
        "Choose the gear Oars and Lamp.",
        ((choose(At("Gear", "combobox|searchbox"), "Oars; Lamp"),),),
        "chosen('gear') === 'Oars,Lamp'",
    ),
)
JSPREADSHEET = (
    Task(
        "Set the metal of the nut to zinc.",
        ((choose(At("Brass", near="Nut"), "Zinc"),),),
        "rowOf('Nut')[1] === 'Zinc'",
    ),
    Task(
        "Rename the pin to Rivet.",
        ((enter(At("Pin", "clickable"), "Rivet", submit=True),),),
        "!!rowOf('Rivet')",
    ),
)
KENDO = (
    Task(
        "Choose the size Large.",
        ((choose(At("Size", _LIST), "Large"),),),
        "val('size') === 'Large'",
    ),
    Task(
        "Set the crew to 17.",
        ((enter(At("Crew", "spinbutton"), "17"),),),
        "val('crew') === '17'",
    ),
    Task(
        "Set the tide to 1:30 AM.",
        ((choose(At("Tide", "combobox"), "1:30 AM"),),),
        "val('tide') === '1:30 AM'",
    ),
)
TDESIGN = (
    Task(
        "Set the day to 17 March 2027.",
        ((click(At("2027-03-05", "textbox")),), (click(At("17", "clickable")),)),
        "values.day === '2027-03-17'",
    ),
    Task(
        "Move Ben to the other side.",
        ((click(At("Ben", "checkbox")),), (click(At("icon t-icon-chevron-right", "button")),)),
        "values.crew.join() === 'Ben'",
    ),
)
