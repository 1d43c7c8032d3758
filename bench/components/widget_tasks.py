"""Tasks on standalone widgets: choices, dates, grids, editors, maps, trees, lists."""

from __future__ import annotations

from bench.player import At, Call, Task, choose, click, drag, enter, find, press, scroll

_OPTION = "option|clickable|treeitem|listitem"


def highlight(text: str, where: At | None = None) -> Call:
    return Call("HIGHLIGHT", {"text": text, **({"ref": where} if where else {})})


SELECT2 = (
    Task(
        "Choose the planet Saturn.", ((choose("Planet", "Saturn"),),), "values().planet==='Saturn'"
    ),
    Task(
        "Choose the skills Baking and Sewing.",
        ((choose("Skills", "Baking; Sewing"),),),
        "values().skills.join() === 'Baking,Sewing'",
    ),
    Task(
        "Add the label fragile.",
        ((enter("Labels", "fragile", append=True, submit=True),),),
        "values().labels.join() === 'urgent,fragile'",
    ),
    Task(
        "Choose the time zone Portland by opening its list.",
        ((click(At("Anchorage", "combobox|textbox")),), (click(At("Portland", _OPTION)),)),
        "values().zone === 'Portland'",
    ),
)
TOMSELECT = (
    Task(
        "Choose the crop Oats by opening its list.",
        ((click("Crop"),), (click(At("Oats", _OPTION)),)),
        "parts.crop.getValue() === 'Oats'",
    ),
    Task(
        "Choose the days Tuesday and Friday.",
        ((click("Days"),), (click(At("Tuesday", _OPTION)), click(At("Friday", _OPTION)))),
        "parts.days.getValue().join() === 'Tuesday,Friday'",
    ),
    Task(
        "Remove the topic soil, and add the topic compost.",
        (
            (click(At("×", near="soil")),),
            (enter(At("Topics", "combobox"), "compost", append=True, submit=True),),
        ),
        "parts.topics.getValue() === 'water,compost'",
    ),
    Task(
        "Make Person 217 the owner.",
        ((enter("Owner", "Person 217"),), (click(At("Person 217", _OPTION)),)),
        "parts.owner.getValue() === '217'",
    ),
)
FLATPICKR = (
    Task(
        "Set the birthday to 2001-05-17.",
        (
            (click("Birthday"),),
            (enter("Year", "2001"), choose("Month", "May")),
            (click("May 17, 2001"),),
        ),
        "day('birthday').join() === '2001-05-17'",
    ),
    Task(
        "Set the stay from 8 to 12 March 2027.",
        ((click("Stay"),), (click("March 8, 2027"),), (click("March 12, 2027"),)),
        "day('stay').join() === '2027-03-08,2027-03-12'",
    ),
    Task(
        "Set the alarm to 06:45.",
        ((click("Alarm"),), (enter("Hour", "06"), enter("Minute", "45", submit=True))),
        "parts.alarm.selectedDates[0]?.toTimeString().startsWith('06:45')",
    ),
    Task(
        "Move the deadline to 2 April 2027.",
        ((click("Deadline"),), (click("April 2, 2027"),)),
        "day('deadline').join() === '2027-04-02'",
    ),
)
AGGRID = (
    Task(
        "Set the price of C-4 to 7100.",
        (
            (click(At("9676", near="C-4"), count=2),),
            (enter(At("", "textbox|spinbutton"), "7100", submit=True),),
        ),
        "price('C-4') === 7100",
    ),
    Task(
        "Show the makes with Skoda in their name alone.",
        ((enter(At("Make Filter", "textbox"), "Skoda"),),),
        "grid.getDisplayedRowCount() === 166",
    ),
    Task(
        "Sort by price, the cheapest first.",
        ((click(At("Price", "columnheader|clickable|button")),),),
        "grid.getColumnState().find((c) => c.colId === 'price').sort === 'asc'",
    ),
    Task(
        "Choose the row of C-820.",
        ((find("C-820"),), (click(At("", "checkbox", near="C-820")),)),
        "grid.getSelectedRows().map((row) => row.id).join() === 'C-820'",
    ),
)
TABULATOR = (
    Task(
        "Set the points of Carlo 2 to 55.",
        (
            (click(At("74", near="Carlo 2")),),
            (enter(At("", "spinbutton|textbox"), "55", submit=True),),
        ),
        "row(2).points === 55",
    ),
    Task(
        "Filter the names by Dunja.",
        ((enter(At("Name", "searchbox|textbox"), "Dunja"),),),
        "table.getDataCount('active') === 6",
    ),
    Task(
        "Turn to the third page and remove Emil 25.",
        (
            (click(At("Page 3", "button|link|clickable")),),
            (click(At("Remove", near="Emil 25")),),
        ),
        "state.removed.join() === 'Emil 25'",
    ),
    Task(
        "Set the town of Bettina 1 to Wels.",
        ((click(At("Graz", near="Bettina 1")),), (click(At("Wels", _OPTION)),)),
        "row(1).town === 'Wels'",
    ),
)
CODEMIRROR = (
    Task(
        "Write into the notes: two lines, the second with four blanks before it.",
        ((enter("Notes", "first\n    second"),),),
        "textOf('notes') === 'first\\n    second'",
    ),
    Task(
        "In the greeting, put earth in place of world.",
        ((enter("Greeting", "earth", instead="world"),),),
        "textOf('short') === 'const name = \"earth\";\\nconsole.log(\"hello \" + name);\\n'",
    ),
    Task(
        "In the report, put DONE in place of FIXME.",
        ((find("FIXME"),), (enter(At("Report", "textbox"), "DONE", instead="FIXME"),)),
        "textOf('long').includes('row(431, \"DONE\")') && textOf('long').split('\\n').length===600",
    ),
    Task(
        "Replace the whole greeting by: let x = 1;",
        ((enter("Greeting", "let x = 1;"),),),
        "textOf('short') === 'let x = 1;'",
    ),
)
MONACO = (
    Task(
        "Replace the whole program by two lines: alpha, beta.",
        ((enter("Program", "alpha\nbeta"),),),
        "textOf('program') === 'alpha\\nbeta'",
    ),
    Task("Write into the scratch: hi.", ((enter("Scratch", "hi"),),), "textOf('empty') === 'hi'"),
    Task(
        "In the program, put 2nd in place of second.",
        ((enter("Program", "2nd", instead="second"),),),
        "textOf('program') === 'first line\\n2nd line\\nthird line'",
    ),
    Task(
        "In the log, put FIXED in place of ERROR.",
        ((find("ERROR"),), (enter(At("Log", "textbox"), "FIXED", instead="ERROR"),)),
        "textOf('long').includes('entry 377: FIXED')",
    ),
)
QUILL = (
    Task(
        "Write the letter anew: See you on Friday.",
        ((enter(At("Dear reader", "textbox|clickable"), "See you on Friday."),),),
        "quill.getText() === 'See you on Friday.\\n'",
    ),
    Task(
        "Make the word Monday bold.",
        ((highlight("Monday"), click(At("bold", "button"))),),
        "formatOf('Monday').bold && !formatOf('meeting').bold",
    ),
    Task(
        "Make the first line a heading 1.",
        (
            (highlight("Dear reader"), click(At("Normal", "button|clickable|combobox"))),
            (click(At("Heading 1", _OPTION + "|button")),),
        ),
        "quill.getFormat(0).header === 1",
    ),
    Task(
        "Put Tuesday in place of Monday.",
        ((enter(At("Dear reader", "textbox|clickable"), "Tuesday", instead="Monday"),),),
        "quill.getText().includes('the meeting is on Tuesday.')",
    ),
)
TINYMCE = (
    Task(
        "Write the story anew: The end.",
        ((enter(At("Once upon a time", "textbox|clickable"), "The end."),),),
        "story.getContent({format: 'text'}).trim() === 'The end.'",
    ),
    Task(
        "Make the word wood bold.",
        ((highlight("wood"), click(At("Bold", "button"))),),
        "/<strong>wood<.strong>/.test(story.getContent())",
    ),
    Task(
        "Make the first paragraph a heading 2.",
        (
            (
                highlight("Once upon a time"),
                click(At("Block Paragraph", "button|combobox|clickable")),
            ),
            (click(At("Heading 2", "menuitem|menuitemcheckbox|option|menuitemradio|clickable")),),
        ),
        "/<h2>Once/.test(story.getContent())",
    ),
    Task(
        "Make the last paragraph a bullet list by the toolbar.",
        ((highlight("They lived", At("Rich Text Area")), click(At("Bullet list", "button"))),),
        "/<ul>\\s*<li>They/.test(story.getContent())",
    ),
)
LEAFLET = (
    Task(
        "Zoom in twice.",
        ((click("Zoom in"),), (click("Zoom in"),)),
        "map.getZoom() === 6",
    ),
    Task("Open what the map says of Rome.", ((click("Rome"),),), "opened.includes('Rome')"),
    Task(
        "Show the rivers, and not the borders.",
        (
            (click(At("Layers", "button|link|clickable")),),
            (click(At("Rivers", "checkbox|clickable")),),
        ),
        "map.hasLayer(rivers) && !map.hasLayer(borders)",
    ),
    Task(
        "Move the map 150 pixels to the left by dragging it.",
        ((drag("Berlin", dx=-150, dy=0),),),
        "map.getCenter().lng > 14",
    ),
)
JSTREE = (
    Task(
        "Open the novels and choose Ulysses.",
        ((click(At("Novels", "treeitem|link|clickable"), count=2),), (click("Ulysses"),)),
        "library().get_selected().join() === 'ulysses'",
    ),
    Task(
        "Open the documents and tick Write.",
        (
            (press("ArrowRight", At("Documents", "treeitem|link|clickable")),),
            (click(At("Write", "checkbox|treeitem|link|clickable")),),
        ),
        "rights().get_checked().join() === 'write'",
    ),
    Task(
        "Rename the lost papers to Found papers by the context menu.",
        (
            (click("Lost papers", button="right"),),
            (click("Rename"),),
            (enter(At("Lost papers", "textbox"), "Found papers", submit=True),),
        ),
        "library().get_text('lost') === 'Found papers'",
    ),
    Task(
        "Move the lost papers into the poems.",
        ((drag("Lost papers", "Poems"),),),
        "library().get_parent('lost') === 'poems'",
    ),
)
DATATABLES = (
    Task(
        "Search for Tokyo.",
        ((enter("Search", "Tokyo"),),),
        "staff.page.info().recordsDisplay === 11",
    ),
    Task(
        "Order by age, the oldest first.",
        (
            (click(At("Age", "button|columnheader|clickable")),),
            (click(At("Age", "button|columnheader|clickable")),),
        ),
        "staff.order()[0][0] === 2 && staff.order()[0][1] === 'desc'",
    ),
    Task(
        "Show 50 entries a page.",
        ((choose(At("entries per page", "combobox"), "50"),),),
        "staff.page.len() === 50",
    ),
    Task(
        "Greet Clerk 9, on whatever page that is.",
        ((enter("Search", "Clerk 9"),), (click(At("Greet", near="Clerk 9")),)),
        "greeted.join() === '9'",
    ),
)
SORTABLE = (
    Task(
        "Move the dishes to the place of the windows.",
        ((drag("Dishes", "Windows"),),),
        "orderOf('chores') === 'Laundry Windows Dishes Floors'",
    ),
    Task(
        "Move Alpha to what is done.",
        ((drag("Alpha", "Gamma"),),),
        "orderOf('todo') === 'Beta' && orderOf('done').includes('Alpha')",
    ),
    Task(
        "In the queue, put South before North, by the handles.",
        ((find("☰"),), (drag(At("☰", near="South"), At("☰", near="North")),)),
        "orderOf('queue') === 'South North East'",
    ),
    Task(
        "Move Gamma back to what is to be done.",
        ((drag("Gamma", "Beta"),),),
        "orderOf('done') === '' && orderOf('todo').includes('Gamma')",
    ),
)
REACT_WINDOW = (
    Task(
        "Edit the order 3200.",
        ((find("Order 3200"),), (click(At("Edit", "button", near="Order 3200")),)),
        "state.edited.join() === '3200'",
    ),
    Task(
        "Tick the order 4 as paid.",
        ((click(At("paid", "checkbox", near="Order 4")),),),
        "state.ticked.join() === '4'",
    ),
    Task(
        "Tick the last order as paid.",
        (
            (scroll(to="bottom", ref=At("Order 0", near="Orders")),),
            (click(At("paid", "checkbox", near="Order 4999")),),
        ),
        "state.ticked.join() === '4999'",
    ),
    Task(
        "Edit the order 700, then the order 12.",
        (
            (find("Order 700"),),
            (click(At("Edit", "button", near="Order 700")), find("Order 12")),
            (click(At("Edit", "button", near="Order 12")),),
        ),
        "state.edited.join() === '700,12'",
    ),
)
ACE = (
    Task(
        "In the code, put 200 in place of 20.",
        ((enter(At("", "textbox"), "200", instead="20"),),),
        "text() === 'let a = 1;\\nlet b = 200;\\nlet c = 3;'",
    ),
    Task(
        "Replace the code by two lines: x = 1 and, after two blanks, y = 2.",
        ((enter(At("", "textbox"), "x = 1\n  y = 2"),),),
        "text() === 'x = 1\\n  y = 2'",
    ),
    Task(
        "Add a line at the end: let d = 4;",
        ((enter(At("", "textbox"), "\nlet d = 4;", append=True),),),
        "text().endsWith('let c = 3;\\nlet d = 4;')",
    ),
)
CODEMIRROR5 = (
    Task(
        "In the query, put people in place of users.",
        ((enter(At("", "textbox", near="Query"), "people", instead="users"),),),
        "text() === 'SELECT * FROM `people`'",
    ),
    Task(
        "Replace the query by SELECT 1.",
        ((enter(At("", "textbox", near="Query"), "SELECT 1"),),),
        "text() === 'SELECT 1'",
    ),
)
XTERM = (
    Task(
        "Run date, then ls.",
        (
            (enter("Terminal input", "date", submit=True),),
            (enter("Terminal input", "ls", submit=True),),
        ),
        "text() === 'date\\rls\\r'",
    ),
)
CLUSTERIZE = (
    Task(
        "Find the berth of Ship 4777.",
        ((find("Ship 4777"),),),
        "document.body.textContent.includes('Ship 4777')",
    ),
)
LEXICAL = (
    Task(
        "Write two lines: Buy milk. and Call Ann. Then add Fetch Bob. at the end.",
        (
            (enter("Notes", "Buy milk.\nCall Ann."),),
            (enter("Notes", " Fetch Bob.", append=True),),
        ),
        "text().replace(/\\s+/g, ' ').trim() === 'Buy milk. Call Ann. Fetch Bob.'",
    ),
)
