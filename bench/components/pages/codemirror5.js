// CodeMirror 5: one of its own, and one in place of a textarea.
import CodeMirror from "codemirror5";
import "codemirror5/lib/codemirror.css";
const app = document.getElementById("app");
app.innerHTML = '<h2>Query</h2><div id=a></div><h2>Area</h2><textarea id=t>SELECT old FROM t</textarea>';
const ed = CodeMirror(document.getElementById("a"), { value: "SELECT * FROM `users`", lineNumbers: true });
const ed2 = CodeMirror.fromTextArea(document.getElementById("t"), { lineNumbers: true });
window.text = () => ed.getValue(); window.text2 = () => ed2.getValue();
