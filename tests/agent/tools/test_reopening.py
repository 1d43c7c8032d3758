"""A resumed run opens its page again before the first tool that needs one, whichever that is."""

from __future__ import annotations

from agent.tools.action_tools import ACTING_TOOLS, DOWNLOAD_TOOLS
from agent.tools.checks import ACTING, LOOKING
from agent.tools.page_tools import LOOKING_TOOLS, SOLVING_TOOLS


def test_all_tools_of_a_live_page_are_known_to_need_it():
    tools = (*LOOKING_TOOLS, *ACTING_TOOLS, *DOWNLOAD_TOOLS, *SOLVING_TOOLS)
    live = {tool.name for tool in tools} - {"OPEN"}
    assert live == (LOOKING | ACTING) - {"READ"}  # which reads other pages too
