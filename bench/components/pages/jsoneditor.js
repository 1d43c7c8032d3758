// JSON Editor: a tree of values that are edited in place.
import * as All from "jsoneditor";
import "jsoneditor/dist/jsoneditor.css";
const JSONEditor = All.default ?? All;
document.getElementById("app").innerHTML = `<div id="editor" style="margin: 16px; width: 560px; height: 420px"></div>`;
window.editor = new JSONEditor(document.getElementById("editor"), { mode: "tree", modes: ["tree", "code", "text"], search: true }, { title: "Harbour", depth: 4, open: true, berths: [{ name: "A", boats: 3 }, { name: "B", boats: 7 }] });
editor.expandAll();
