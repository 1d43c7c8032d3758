"""Tasks on further libraries: dates, tags, grids, colours, editors, trees, menus, drag and drop."""

from __future__ import annotations

from bench.components.widget_tasks import highlight
from bench.player import At, Task, choose, click, drag, enter, find, press

_OPTION = "option|clickable|treeitem|listitem|menuitem"
_DAY = "clickable|button|gridcell"
AIRDATEPICKER = (
    Task(
        "Set the departure to 17 March 2027.",
        ((click("Departure"),), (click(At("17", _DAY)),)),
        "value('departure') === '2027-03-17'",
    ),
    Task(
        "Set the trip from 8 to 12 March 2027.",
        ((click("Trip"),), (click(At("8", _DAY)),), (click(At("12", _DAY)),)),
        "value('trip') === '2027-03-08 to 2027-03-12'",
    ),
    Task(
        "Set the departure to 5 November 2027.",
        (
            (click("Departure"),),
            (click(At("March, 2027", "clickable|button")),),
            (click(At("Nov", _DAY)),),
            (click(At("5", _DAY)),),
        ),
        "value('departure') === '2027-11-05'",
    ),
)
TAGIFY = (
    Task(
        "Add the herb sorrel.",
        ((enter(At("Tags input field", "textbox|combobox"), "sorrel", append=True, submit=True),),),
        "tags('herbs') === 'mint,thyme,sorrel'",
    ),
    Task("Remove mint.", ((click(At("remove tag", "button")),),), "tags('herbs') === 'thyme'"),
    Task(
        "Choose the towns Cork and Porto by their list.",
        (
            (click(At("Tags input field", "textbox|combobox", nth=1)),),
            (click(At("Cork", _OPTION)),),
            (click(At("Tags input field", "textbox|combobox", nth=1)),),
            (click(At("Porto", _OPTION)),),
        ),
        "tags('towns') === 'Cork,Porto'",
    ),
)
HANDSONTABLE = (
    Task(
        "Set the price of Part 4 to 999.",
        (
            (click(At("112", near="Part 4"), count=2),),
            (enter(At("", "textbox|spinbutton"), "999", submit=True),),
        ),
        "rowOf('Part 4')[1] === 999",
    ),
    Task(
        "Tick that Part 3 is stocked.",
        ((click(At("", "checkbox", near="Part 3")),),),
        "rowOf('Part 3')[3] === true",
    ),
    Task(
        "Set the price of Part 337 to 5.",
        (
            (find("Part 337"),),
            (click(At("1111", near="Part 337"), count=2),),
            (enter(At("", "textbox|spinbutton"), "5", submit=True),),
        ),
        "rowOf('Part 337')[1] === 5",
    ),
)
PICKR = (
    Task(
        "Set the wall's colour to #3366CC and save.",
        (
            (click(At("", "button", near="Wall colour")),),
            (enter(At("", "textbox"), "#3366CC", submit=True),),
            (click(At("Save", "button")),),
        ),
        "state.saved === '#3366CC'",
    ),
    Task(
        "Choose the swatch #4CAF50 and save.",
        (
            (click(At("", "button", near="Wall colour")),),
            (click(At("color swatch", "button", nth=1)),),
            (click(At("Save", "button")),),
        ),
        "state.saved === '#4CAF50'",
    ),
    Task(
        "Clear the colour.",
        ((click(At("", "button", near="Wall colour")),), (click(At("Clear", "button")),)),
        "state.saved === 'none'",
    ),
)
DRAGULA = (
    Task(
        "Move 'Paint the door' to Doing.",
        ((drag("Paint the door", "Sand the floor"),),),
        "list('doing').includes('Paint the door')",
    ),
    Task(
        "Move 'Call Ines' above 'Paint the door'.",
        ((drag("Call Ines", "Paint the door"),),),
        "list('todo').startsWith('Call Ines')",
    ),
    Task(
        "Move 'Sand the floor' between the two cards 'Order screws' and 'Call Ines'.",
        ((drag("Sand the floor", "Call Ines"),),),
        "list('todo') === 'Paint the door,Order screws,Sand the floor,Call Ines'",
    ),
)
TOASTUI = (
    Task(
        "Write 'Gone.' in place of the text.",
        ((enter(At("", "textbox"), "Gone."),),),
        "editor.getMarkdown().trim() === 'Gone.'",
    ),
    Task(
        "Make it a heading by the Markdown mode: write '# Light'.",
        (
            (click(At("Markdown", "tab|clickable|button")),),
            (enter(At("lighthouse", "textbox"), "# Light"),),
        ),
        "editor.isMarkdownMode() && editor.getMarkdown().trim() === '# Light'",
    ),
    Task(
        "Make the word painted bold.",
        ((highlight("painted"),), (click(At("Bold", "button")),)),
        "editor.getMarkdown().includes('**painted**')",
    ),
)
CKEDITOR5 = (
    Task(
        "Write 'No ferry today.' in place of the text.",
        ((enter(At("", "textbox"), "No ferry today."),),),
        "editor.getData() === '<p>No ferry today.</p>'",
    ),
    Task(
        "Add ' Be early.' at the end.",
        ((enter(At("", "textbox"), " Be early.", append=True),),),
        "editor.getData() === '<p>The ferry leaves at nine. Be early.</p>'",
    ),
    Task(
        "Make the word ferry bold.",
        ((highlight("ferry"),), (click(At("Bold", "button")),)),
        "editor.getData() === '<p>The <strong>ferry</strong> leaves at nine.</p>'",
    ),
)
JQUERYUI = (
    Task(
        "Choose the city Bremen from what is suggested.",
        ((enter("City", "Br"),), (click(At("Bremen", _OPTION)),)),
        "state.city === 'Bremen'",
    ),
    Task(
        "Set the speed to Fast.",
        ((choose(At("Speed", "combobox|button"), "Fast"),),),
        "document.getElementById('speed').value === 'Fast'",
    ),
    Task(
        "Set the day to 20 April 2027.",
        ((click("Day"),), (click("Next"),), (click(At("20", "link|clickable|button")),)),
        "document.getElementById('day').value === '2027-04-20'",
    ),
    Task(
        "Move Gamma to the top.",
        ((drag("Gamma", "Alpha"),),),
        "document.getElementById('sort').innerText.replace(/\\s+/g,',') === 'Gamma,Alpha,Beta'",
    ),
    Task(
        "Set the loudness to 60.",
        ((drag(At("ui-slider-handle"), dx=136),),),
        "Math.abs($('#slider').slider('value') - 60) <= 2",
    ),
)
SLIMSELECT = (
    Task(
        "Choose the wood Cedar.",
        ((choose(At("Ash", "combobox"), "Cedar"),),),
        "parts.wood.getSelected().join() === 'Cedar'",
    ),
    Task(
        "Choose the tools Hammer and Saw.",
        (
            (click(At("Tools", "combobox")),),
            (click(At("Hammer", _OPTION)),),
            (click(At("Tools", "combobox")),),
            (click(At("Saw", _OPTION)),),
        ),
        "parts.tools.getSelected().join() === 'Hammer,Saw'",
    ),
    Task(
        "Choose Clerk 157.",
        (
            (click(At("Clerk 0", "combobox")),),
            (enter(At("", "searchbox"), "Clerk 157"),),
            (click(At("Clerk 157", _OPTION)),),
        ),
        "parts.clerk.getSelected().join() === 'Clerk 157'",
    ),
)
UI5 = (
    Task(
        "Choose the tea Oolong.",
        ((choose(At("Tea", "combobox"), "Oolong"),),),
        "el('tea').selectedOption.textContent === 'Oolong'",
    ),
    Task(
        "Set due to 2027-03-17.",
        ((enter(At("Due", "combobox|textbox"), "2027-03-17", submit=True),),),
        "el('due').value === '2027-03-17'",
    ),
    Task(
        "Set the cups to 7.",
        ((enter(At("Cups", "spinbutton"), "7", submit=True),),),
        "el('cups').value === 7",
    ),
    Task("Set the heat to 65.", ((enter(At("Heat", "slider"), "65"),),), "el('heat').value === 65"),
    Task("Turn on the milk.", ((click(At("Milk", "switch")),),), "el('milk').checked"),
)
WUNDERBAUM = (
    Task(
        "Go to the South dock.",
        (
            (click(At("wb-expander", near="Harbour")),),
            (click(At("wb-expander", near="Docks")),),
            (click("South dock"),),
        ),
        "state.active === 'South dock'",
    ),
    Task(
        "Tick the Museum.",
        ((click(At("wb-checkbox", near="Museum")),),),
        "tree.findKey('u').isSelected()",
    ),
    Task(
        "Rename the Museum to Gallery.",
        ((click("Museum"),), (press("F2"),), (enter(At("", "textbox"), "Gallery", submit=True),)),
        "tree.findKey('u').title === 'Gallery'",
    ),
)
FOMANTIC = (
    Task(
        "Choose the gender Other.",
        ((click(At("Pick one")),), (click(At("Other", _OPTION)),)),
        "chosen('gender') === 'other'",
    ),
    Task(
        "Choose the skills Baking and Diving.",
        (
            (click(At("Skills", "combobox|textbox|clickable")),),
            (click(At("Baking", _OPTION)),),
            (click(At("Diving", _OPTION)),),
        ),
        "chosen('skills') === 'baking,diving'",
    ),
    Task(
        "Turn on the newsletter and give the reference R-9 under details.",
        (
            (click(At("Newsletter", "checkbox|clickable|switch")), click("Details")),
            (enter("Reference", "R-9"),),
        ),
        "document.querySelector('#news input').checked && "
        "document.querySelector('#ref').value === 'R-9'",
    ),
)
MATERIALIZE = (
    Task(
        "Choose the meal Stew.",
        ((choose(At("Meal", "combobox|textbox|clickable"), "Stew"),),),
        "document.getElementById('meal').value === 'stew'",
    ),
    Task(
        "Add the guest Bo.",
        ((enter(At("(.input)", "textbox"), "Bo", submit=True),),),
        "chips.chipsData.map((c) => c.text ?? c.id).join() === 'Ada,Bo'",
    ),
    Task(
        "Book a table for Ines.",
        (
            (click(At("Book", "button")),),
            (enter(At("Name", "textbox"), "Ines"),),
            (click(At("Confirm", "button")),),
        ),
        "state.booked === 'Ines'",
    ),
)
ARKUI = (
    Task(
        "Choose the bird Curlew.",
        ((choose(At("Bird", "combobox"), "Curlew"),),),
        "state.bird === 'Curlew'",
    ),
    Task(
        "Add the habitat heath, and count 12.",
        (
            (
                enter(At("Habitats", "textbox"), "heath", submit=True),
                enter(At("Seen", "spinbutton"), "12", submit=True),
            ),
        ),
        "state.tags === 'marsh,heath' && state.count === 12",
    ),
    Task(
        "Enter the code 4071.", ((enter(At("Code", "textbox"), "4071"),),), "state.pin === '4071'"
    ),
    Task("Rate the weather with 4.", ((click(At("4 stars", "radio")),),), "state.stars === 4"),
)
CMDK = (
    Task(
        "Run Export as PDF.",
        ((click(At("Commands", "button")),), (click(At("Export as PDF", _OPTION)),)),
        "state.ran === 'Export as PDF'",
    ),
    Task(
        "Open the menu by its shortcut and change the language.",
        ((press("Control+k"),), (enter(At("", "combobox"), "lang"),), (press("Enter"),)),
        "state.ran === 'Change language'",
    ),
    Task(
        "Search theme and run it.",
        ((click(At("Commands", "button")),), (enter(At("", "combobox"), "theme", submit=True),)),
        "state.ran === 'Change theme'",
    ),
)
VIRTUOSO = (
    Task(
        "Open Ship 777.", ((find("Ship 777"),), (click("Ship 777"),)), "state.opened === 'Ship 777'"
    ),
    Task(
        "Like letter 123.",
        ((find("Letter 123"),), (click(At("Like", "button", near="Letter 123")),)),
        "state.liked === 'Letter 123'",
    ),
    Task("Open Ship 5.", ((click("Ship 5,"),),), "state.opened === 'Ship 5'"),
)
DNDKIT = (
    Task("Move Fold to the top.", ((drag("Fold", "Wash"),),), "state.order.startsWith('Fold,')"),
    Task(
        "Put the pear into the basket.",
        ((drag(At("Pear", "button"), "Basket: empty"),),),
        "state.basket === 'Pear'",
    ),
    Task(
        "Move Wash below Rinse by the keyboard.",
        ((press("Space", "Wash"),), (press("ArrowDown"),), (press("Space"),)),
        "state.order.startsWith('Rinse,Wash')",
    ),
)
IONRANGE = (
    Task(
        "Set the width to 70.",
        ((drag(At("30"), dx=180),),),
        "Math.abs(Number(val('width')) - 70) <= 4",
    ),
    Task(
        "Set the least price to 400.",
        ((drag(At("200"), dx=92),),),
        "Math.abs(Number(val('price').split(';')[0]) - 400) <= 40",
    ),
    Task("Set the month to May.", ((drag(At("Feb"), dx=270),),), "val('month') === 'May'"),
)
TUIGRID = (
    Task(
        "Set the length of Boat 14 to 12.",
        (
            (click(At("7", near="Boat 14"), count=2),),
            (enter(At("", "textbox"), "12", submit=True),),
        ),
        "String(rowOf('Boat 14').length) === '12'",
    ),
    Task(
        "Tick Boat 21.",
        ((click(At("", "checkbox", near="Boat 21")),),),
        "grid.getCheckedRows().map((r) => r.name).join() === 'Boat 21'",
    ),
    Task(
        "Sort by the name.",
        ((click(At("", "button|clickable|link", near="Name")),),),
        "grid.getSortState().columns[0].columnName === 'name'",
    ),
)
CALLY = (
    Task(
        "Set the arrival to 17 April 2027.",
        ((click("Forward"),), (click(At("17", "button")),)),
        "el('arrival').value === '2027-04-17'",
    ),
    Task(
        "Set the holiday from 10 June to 4 July 2027.",
        ((click(At("June 10", "button")),), (click(At("July 4", "button")),)),
        "el('holiday').value === '2027-06-10/2027-07-04'",
    ),
    Task(
        "Set the arrival to 9 March 2027.",
        ((click(At("March 9", "button")),),),
        "el('arrival').value === '2027-03-09'",
    ),
)
JSONEDITOR = (
    Task(
        "Set the depth to 6.",
        ((enter(At("4", "textbox|clickable"), "6"),),),
        "editor.get().depth === 6",
    ),
    Task("Untick open.", ((click(At("", "checkbox")),),), "editor.get().open === false"),
    Task(
        "Rename berth B to C.",
        ((enter(At("B", "textbox|clickable", near="boats"), "C"),),),
        "JSON.stringify(editor.get()).includes('\"C\"')",
    ),
)
