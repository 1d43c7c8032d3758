"""Forms are filled with what the question tells, and with nothing else."""

from __future__ import annotations

from agent.keyless.controls import Control
from agent.keyless.forms import choose, decline, fill

LENGTH = Control("e1", "textbox", "Length in metres, required")
NIGHTS = Control("e2", "spinbutton", "Nights = (1..60), required")
BOAT = Control("e3", "textbox", "Name of the boat")
ASKED = "What is the fee for a boat of 12 metres for 3 nights?"


def test_a_field_gets_the_figure_that_its_name_is_the_unit_of() -> None:
    first = fill([BOAT, LENGTH, NIGHTS], [BOAT, LENGTH, NIGHTS], ASKED, "")
    assert first == ("TYPE", {"ref": "e1", "text": "12", "submit": False})


def test_the_last_field_submits() -> None:
    last = fill([BOAT, NIGHTS], [BOAT, LENGTH, NIGHTS], ASKED, "")
    assert last == ("TYPE", {"ref": "e2", "text": "3", "submit": True})


def test_a_form_that_requires_what_was_not_told_is_left_alone() -> None:
    assert fill([LENGTH, NIGHTS], [LENGTH, NIGHTS], "What is the fee for 3 nights?", "") is None


def test_credentials_are_typed_only_where_the_page_states_those_of_a_demonstration() -> None:
    fields = [Control("e1", "textbox", "Name"), Control("e2", "textbox", "Password")]
    stated = "This is a demonstration. The name is guest, the password is heron."
    call = fill(fields, fields, "Who keeps the minutes?", stated)
    assert call == ("TYPE", {"ref": "e1", "text": "guest", "submit": False})
    assert fill(fields, fields, "Who keeps the minutes?", "Please sign in.") is None


def test_an_option_that_the_question_names_is_selected_unless_it_is() -> None:
    season = Control("e1", "select", "Season = Summer, options: Summer; Winter")
    wanted = choose([season], "When does the last boat leave in winter?")
    assert wanted == ("SELECT", {"ref": "e1", "value": "Winter"})
    assert choose([season], "When does the last boat leave in summer?") is None


def test_cookies_are_turned_down() -> None:
    buttons = [Control("e1", "button", "Accept all"), Control("e2", "button", "Reject all")]
    assert decline(buttons) == ("CLICK", {"ref": "e2"})
    assert decline(buttons[:1]) is None
