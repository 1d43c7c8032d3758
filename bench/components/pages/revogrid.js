// RevoGrid: a virtual grid with a pinned column, whose rows are rows by role alone.
import { defineCustomElements } from "@revolist/revogrid/loader";
defineCustomElements();
document.getElementById("app").innerHTML = `<revo-grid style="height: 400px; width: 500px"></revo-grid>`;
const grid = document.querySelector("revo-grid");
customElements.whenDefined("revo-grid").then(() => {
  grid.columns = [{ prop: "name", name: "Boat", pin: "colPinStart", size: 120 }, ...["length", "draught", "berth"].map((prop) => ({ prop, name: prop, size: 150 }))];
  grid.source = Array.from({ length: 300 }, (_, n) => ({ name: `Boat ${n + 1}`, length: 10 * (n + 1), draught: n, berth: `B${n}` }));
});
window.rowOf = (name) => grid.source.find((row) => row.name === name);
