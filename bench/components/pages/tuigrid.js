// TUI Grid: a table with editors, checkboxes and sorting.
import Grid from "tui-grid";
import "tui-grid/dist/tui-grid.css";
document.getElementById("app").innerHTML = `<div id="grid" style="margin: 16px; width: 640px"></div>`;
window.grid = new Grid({
  el: document.getElementById("grid"), bodyHeight: 300, rowHeaders: ["checkbox"], usageStatistics: false, scrollX: false,
  columns: [{ header: "Name", name: "name", sortable: true }, { header: "Length", name: "length", editor: "text" }, { header: "Kind", name: "kind", formatter: "listItemText", editor: { type: "select", options: { listItems: ["Cutter", "Ketch", "Yawl"].map((text) => ({ text, value: text })) } } }],
  data: Array.from({ length: 200 }, (_, n) => ({ name: `Boat ${(n * 7) % 200}`, length: 5 + (n % 9), kind: ["Cutter", "Ketch", "Yawl"][n % 3] })),
});
window.rowOf = (name) => grid.getData().find((row) => row.name === name);
