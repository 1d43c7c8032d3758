// Dragula: cards between three columns, with handles in one list.
import dragula from "dragula";
import "dragula/dist/dragula.css";
const column = (id, title, cards) => `<div style="width: 180px"><h3>${title}</h3><ul id="${id}" style="min-height: 160px; background: #eee; padding: 8px; list-style: none">${cards.map((c) => `<li style="padding: 8px; margin: 4px; background: #fff">${c}</li>`).join("")}</ul></div>`;
document.getElementById("app").innerHTML = `<div style="display: flex; gap: 16px; margin: 16px">${column("todo", "To do", ["Paint the door", "Order screws", "Call Ines"])}${column("doing", "Doing", ["Sand the floor"])}${column("done", "Done", [])}</div>`;
window.list = (id) => [...document.querySelectorAll(`#${id} > li`)].map((li) => li.textContent).join();
dragula(["todo", "doing", "done"].map((id) => document.getElementById(id)));
