"""A resumed run opens its page again before the first tool that needs one, whichever that is."""

from __future__ import annotations

from agent.tools.actions import ACTING_TOOLS
from agent.tools.download import DOWNLOAD_TOOLS
from agent.tools.page import LOOKING_TOOLS
from agent.tools.reopening import ACTING, LOOKING
from agent.tools.walls import SOLVING_TOOLS


def test_all_tools_of_a_live_page_are_known_to_need_it():
    tools = (*LOOKING_TOOLS, *ACTING_TOOLS, *DOWNLOAD_TOOLS, *SOLVING_TOOLS)
    live = {tool.name for tool in tools} - {"OPEN"}
    assert live == (LOOKING | ACTING) - {"READ"}  # which reads other pages too
