// Tabulator: cells are edited in place, columns sorted and filtered in their heads, rows deleted, pages turned.
import { TabulatorFull } from "tabulator-tables";
import "tabulator-tables/dist/css/tabulator.css";

window.state = { removed: [] };
const NAMES = ["Anders", "Bettina", "Carlo", "Dunja", "Emil", "Frida", "Goran"];
window.table = new TabulatorFull("#app", {
  data: Array.from({ length: 42 }, (_, n) => ({ id: n, name: `${NAMES[n % 7]} ${n}`, town: n % 2 ? "Graz" : "Linz", points: (n * 37) % 101, paid: false })),
  layout: "fitColumns", width: 700, pagination: true, paginationSize: 10,
  columns: [
    { title: "Name", field: "name", headerFilter: "input" },
    { title: "Town", field: "town", editor: "list", editorParams: { values: ["Graz", "Linz", "Wels"] } },
    { title: "Points", field: "points", editor: "number", sorter: "number" },
    { title: "Paid", field: "paid", formatter: "tickCross", editor: true },
    { title: "", formatter: () => "<button>Remove</button>", headerSort: false,
      cellClick: (_, cell) => { window.state.removed.push(cell.getRow().getData().name); cell.getRow().delete(); } },
  ],
});
window.row = (id) => table.getRow(id).getData();
