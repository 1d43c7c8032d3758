// Ace: an editor that draws its text, and catches keys in a hidden textarea.
import ace from "ace-builds";
const app = document.getElementById("app");
app.innerHTML = '<h2>Code</h2><div id="ed" style="height:150px;width:500px"></div><p>Below</p>';
const ed = ace.edit("ed"); ed.session.setUseWorker?.(false); ed.setValue("let a = 1;\nlet b = 20;\nlet c = 3;", -1);
window.text = () => ed.getValue();
