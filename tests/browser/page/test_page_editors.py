"""Editors and terminals that draw their text themselves: what was typed is read from the drawing."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import pytest

from browser.errors import ActionError
from tests.browser.page.pages import ref

EDITOR = r"""<h2>Query</h2><div id=ed style="width:400px;height:90px;position:relative;font:14px monospace">
<textarea id=keys style="opacity:0;position:absolute;width:3px;height:14px;left:0"></textarea><div id=lines></div></div>
<script>
let text = 'let a = 1;\nlet b = 20;', from = 0, to = 0;
const draw = () => lines.replaceChildren(...text.split('\n').map((line, n) => {
  const row = document.createElement('div');
  row.style.whiteSpace = 'pre';
  row.innerHTML = `<span class="x-gutter">${n + 1} </span><span class=line></span>`;
  row.lastChild.textContent = line;
  return row;
}));
const put = (words) => { text = text.slice(0, from) + words + text.slice(to); from = to = from + words.length; draw(); };
ed.onmousedown = (event) => {
  const { offsetNode, offset } = document.caretPositionFromPoint(event.clientX, event.clientY);
  const row = [...lines.children].findIndex((one) => one.contains(offsetNode));
  const before = text.split('\n').slice(0, row).join('\n').length + (row > 0 ? 1 : 0);
  if (event.shiftKey) to = before + offset; else from = to = before + offset;
  event.preventDefault();
  keys.focus();
};
keys.onkeydown = (event) => {
  if (event.ctrlKey && event.key === 'a') [from, to] = [0, text.length];
  else if (event.ctrlKey && event.key === 'End') from = to = text.length;
  else if (event.key === 'Delete') put('');
  else return;
  event.preventDefault();
};
keys.oninput = () => { if (!window.deaf) put(keys.value); keys.value = ''; };
keys.onpaste = (event) => { if (!window.deaf) put(event.clipboardData.getData('text/plain')); event.preventDefault(); };
draw();
</script>"""


async def editor(show):
    tab = await show(EDITOR)
    return tab, ref(await tab.snapshot(), "textbox")


@pytest.mark.parametrize(
    ("how", "text", "result"),
    [
        ({}, "x = 1\n  y = 2", "x = 1\n  y = 2"),
        ({"append": True}, "\nlet c;", "let a = 1;\nlet b = 20;\nlet c;"),
        ({"instead": "20"}, "300", "let a = 1;\nlet b = 300;"),
    ],
    ids=["replaced", "appended", "in part"],
)
async def test_typing_replaces_editor_text(show, how, text, result):
    tab, field = await editor(show)
    outcome = await tab.type(field, text, **how)
    assert await tab.page.evaluate("text") == result
    assert outcome.action == f"typed into [{field}] textbox (editor)"


async def test_typing_into_rendered_editor_line_works(show):
    tab, _ = await editor(show)
    await tab.type(await tab.ref_of("#lines > :last-child .line"), "anew")
    assert await tab.page.evaluate("text") == "anew"


async def test_editor_keeping_old_text_is_reported(show):
    tab, field = await editor(show)
    await tab.page.evaluate("() => { keys.onkeydown = null; }")  # Control+a selects nothing
    outcome = await tab.type(field, "new text")
    assert "but the previous text is still there: it shows '1 new textlet a = 1;" in outcome.action


async def test_editor_ignoring_input_is_reported(show):
    tab, field = await editor(show)
    await tab.page.evaluate("() => { window.deaf = true; keys.onkeydown = null; }")
    with pytest.raises(ActionError, match="did not accept the text: it shows '1 let a = 1;"):
        await tab.type(field, "new text")


TERMINAL = r"""<div class="terminal xterm" style="width:400px;height:80px"><textarea id=keys aria-label="Terminal input"
 style="opacity:0;position:absolute;left:-9999px;width:20px;height:20px"></textarea><pre id=rows>$ </pre></div><script>
window.sent = '';
keys.oninput = () => { sent += keys.value; rows.textContent += keys.value; keys.value = ''; };
keys.onkeydown = (event) => { if (event.key === 'Enter') { sent += '|'; rows.textContent += '\ndone\n$ '; event.preventDefault(); } };
</script>"""


async def test_terminal_receives_each_key_once(show):
    tab = await show(TERMINAL)
    field = ref(await tab.snapshot(), "textbox")
    first = await tab.type(field, "date", submit=True)
    second = await tab.type(field, "ls")
    assert await tab.page.evaluate("sent") == "date|ls"
    assert first.action.endswith("Terminal input")
    assert second.action.endswith("Terminal input")


async def test_spreadsheet_cell_is_selected_before_typing(show):
    """Selecting all in such a sheet, as in an editor, would replace every cell."""
    tab = await show("""<div style="position:relative"><table id=t><tr><td>Ada<td>3<tr><td>Bo<td>6</table>
        <textarea id=k style="position:absolute;left:-900px;width:20px;height:20px"></textarea></div><script>
        let chosen = null, fresh = true;
        t.onmousedown = e => { chosen = e.target; fresh = true; setTimeout(() => k.focus()) };
        k.onkeydown = e => { if (e.key === 'a' && e.ctrlKey) chosen = t;
          if (e.key.length === 1 && !e.ctrlKey) { if (fresh) chosen.textContent = ''; fresh = false; chosen.textContent += e.key } }</script>""")
    snapshot = await tab.snapshot()
    outcome = await tab.type(ref(snapshot, "clickable 6"), "75")
    assert outcome.action.startswith("typed into")
    assert await tab.page.evaluate("t.innerText") == "Ada\t3\nBo\t75"
