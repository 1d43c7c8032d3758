// jsTree: nodes are opened, chosen, ticked, renamed in a context menu and moved by dragging.
import $ from "jquery";
import "jstree";
import "jstree/dist/themes/default/style.css";

const app = document.getElementById("app");
app.innerHTML = "<h2>Library</h2><div id='library'></div><h2>Rights</h2><div id='rights'></div>";
const node = (id, text, children = []) => ({ id, text, children });
$("#library").jstree({
  core: { check_callback: true, animation: 0, data: [
    node("novels", "Novels", [node("emma", "Emma"), node("ulysses", "Ulysses")]),
    node("poems", "Poems", [node("howl", "Howl")]), node("lost", "Lost papers")] },
  plugins: ["contextmenu", "dnd"],
});
$("#rights").jstree({
  core: { animation: 0, data: [node("docs", "Documents", [node("read", "Read"), node("write", "Write")]), node("admin", "Administration", [node("users", "Users")])] },
  plugins: ["checkbox"],
});
window.library = () => $("#library").jstree(true);
window.rights = () => $("#rights").jstree(true);
