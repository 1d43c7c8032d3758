"""Tasks on components of frameworks: MUI, Ant Design, Element Plus, Vuetify, Radix, Bootstrap."""

from __future__ import annotations

from bench.player import At, Task, choose, click, drag, enter, press

MUI = (
    Task("Choose the shirt size Large.", ((choose("Shirt size", "Large"),),), "state.size === 'l'"),
    Task(
        "Choose the country Norway.",
        ((enter("Country", "Nor"),), (click(At("Norway", "option|clickable")),)),
        "state.country === 'Norway'",
    ),
    Task(
        "Set the departure to 14 March 2027.",
        (
            (
                enter(At("Month", near="Departure"), "03"),
                enter(At("Day", near="Departure"), "14"),
                enter(At("Year", near="Departure"), "2027"),
            ),
        ),
        "state.departure?.format('YYYY-MM-DD') === '2027-03-14'",
    ),
    Task(
        "Set the volume to 32, then delete the account.",
        (
            (press("ArrowRight ArrowRight", At("Volume", "slider")), click("Delete account")),
            (click(At("Delete", "button")),),
        ),
        "state.volume === 32 && state.deleted",
    ),
)
ANTD = (
    Task(
        "Book for 4 guests in Porto.",
        ((choose("City", "Porto"), enter("Guests", "4"), click("Book")),),
        "state.sent?.city === 'porto' && state.sent.guests === 4",
    ),
    Task(
        "Open the vegetables in the tree and tick the leek.",
        (
            (click(At("caret", "clickable|button|image", near="Vegetables")),),
            (click(At("Leek", "checkbox")),),
        ),
        "state.ticked.includes('leek') && !state.ticked.includes('onion')",
    ),
    Task(
        "Set the arrival to 2027-03-14.",
        ((enter("Arrival", "2027-03-14", submit=True),),),
        "state.date === '2027-03-14'",
    ),
    Task(
        "Choose the rows of Jim Green and Ada Moss.",
        (
            (
                click(At("", "checkbox", near="Jim Green")),
                click(At("", "checkbox", near="Ada Moss")),
            ),
        ),
        "state.rows.join() === '1,3'",
    ),
)
ELEMENT = (
    Task("Choose the zone Beijing.", ((choose("Zone", "Beijing"),),), "state.zone === 'Beijing'"),
    Task(
        "Tick Nepal in the tree, below Asia.",
        (
            (click(At("Asia", "treeitem|clickable")),),
            (click(At("Nepal", "checkbox|treeitem|clickable")),),
        ),
        "tree.getCheckedKeys().includes(22) && !tree.getCheckedKeys().includes(21)",
    ),
    Task(
        "Choose the chapter Guide, Layout, Space.",
        (
            (click("Chapter"),),
            (click(At("Guide", "menuitem|option|clickable")),),
            (click(At("Layout", "menuitem|option|clickable")),),
            (click(At("Space", "menuitem|option|clickable|radio")),),
        ),
        "state.path.join() === 'guide,layout,space'",
    ),
    Task(
        "Reserve 3 seats on invoice, with push news.",
        (
            (
                click(At("Push news", "switch|checkbox|clickable")),
                click(At("Invoice", "radio")),
                enter(At("Seats", "spinbutton"), "3"),
                click("Reserve"),
            ),
        ),
        "state.sent?.push && state.sent.pay === 'invoice' && state.sent.seats === 3",
    ),
)
VUETIFY = (
    Task("Choose the region Texas.", ((choose("Region", "Texas"),),), "state.region === 'Texas'"),
    Task(
        "Archive it by the actions menu.",
        ((click(At("Actions", "button")),), (click("Archive"),)),
        "state.archived",
    ),
    Task(
        "Save the full name Kim Bo, and agree to the terms.",
        (
            (
                enter("Full name", "Kim Bo"),
                click(At("I agree to the terms", "checkbox")),
                click(At("Save", "button")),
            ),
        ),
        "state.saved?.name === 'Kim Bo' && state.saved.agreed",
    ),
    Task(
        "Give it the tags green and tall.",
        (
            (enter(At("Tags", "combobox|textbox"), "green", submit=True),),
            (enter(At("Tags", "combobox|textbox"), "tall", append=True, submit=True),),
        ),
        "state.tags.join() === 'green,tall'",
    ),
)
RADIX = (
    Task("Choose the fruit Grapes.", ((choose("Fruit", "Grapes"),),), "state.fruit === 'grapes'"),
    Task(
        "Have it exported as CSV by the options menu.",
        (
            (click(At("Options", "button")),),
            (click(At("Export as", "menuitem")),),
            (click(At("CSV", "menuitem")),),
        ),
        "state.exported === 'csv'",
    ),
    Task(
        "Change the name in the profile to Grace.",
        (
            (click("Edit profile"),),
            (enter(At("Name", "textbox"), "Grace"), click("Save changes")),
        ),
        "state.name === 'Grace'",
    ),
    Task(
        "Remove the file photo.png by its context menu.",
        ((click("photo.png", button="right"),), (click(At("Remove", "menuitem")),)),
        "state.removed === 'photo.png'",
    ),
)
BOOTSTRAP = (
    Task(
        "Send a new message to ada@example.org.",
        (
            (click(At("New message", "button")),),
            (enter("Recipient", "ada@example.org"), click("Send message")),
        ),
        "state.recipient === 'ada@example.org'",
    ),
    Task("Sort by the newest.", ((click("Sort by"),), (click("Newest"),)), "state.sort==='Newest'"),
    Task(
        "On the help tab, apply the code R-7 for refunds.",
        (
            (click(At("Help", "tab|button")),),
            (click(At("Refunds", "button")),),
            (enter("Refunds code", "R-7"), click("Apply Refunds")),
        ),
        "state.code === 'R-7'",
    ),
    Task(
        "In the preferences, turn the dark mode on and set the text size to 70.",
        (
            (click("Preferences"),),
            (click(At("Dark mode", "switch|checkbox")), enter(At("Text size", "slider"), "70")),
        ),
        "state.dark && state.size === 70",
    ),
)
CALENDAR = (
    Task(
        "Open the party of April.",
        ((click(At("next", "button")),), (click("Party"),)),
        "state.opened === 'party'",
    ),
    Task(
        "Move the dentist to 11 March.",
        ((drag("Dentist", At("March 11", near="")),),),
        "dayOf('dentist') === '2027-03-11'",
    ),
    Task(
        "Show the month as a list and open the concert.",
        ((click(At("List view")),), (click("Concert"),)),
        "calendar.view.type === 'listMonth' && state.opened === 'concert'",
    ),
    Task("Choose the day 25 March.", ((click("March 25"),),), "state.day === '2027-03-25'"),
)
