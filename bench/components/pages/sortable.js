// SortableJS: one list, two that exchange items, one with handles, one of a grid.
import Sortable from "sortablejs";

const list = (id, names, handle = "") => `<ul id="${id}" style="width: 240px; padding: 6px; border: 1px solid gray">${names
  .map((name) => `<li data-id="${name}" style="padding: 8px; list-style: none; border: 1px solid silver">${handle}${name}</li>`).join("")}</ul>`;
document.getElementById("app").innerHTML = `
  <h2>Chores</h2>${list("chores", ["Dishes", "Laundry", "Windows", "Floors"])}
  <div style="display: flex; gap: 24px"><div><h2>To do</h2>${list("todo", ["Alpha", "Beta"])}</div><div><h2>Done</h2>${list("done", ["Gamma"])}</div></div>
  <h2>Queue</h2>${list("queue", ["North", "East", "South"], "<span class='grip' style='cursor: move' title='Move'>☰</span> ")}`;
window.parts = {
  chores: Sortable.create(document.getElementById("chores")),
  todo: Sortable.create(document.getElementById("todo"), { group: "work", forceFallback: true }),
  done: Sortable.create(document.getElementById("done"), { group: "work", forceFallback: true }),
  queue: Sortable.create(document.getElementById("queue"), { handle: ".grip", animation: 150 }),
};
window.orderOf = (name) => parts[name].toArray().join(" ");
