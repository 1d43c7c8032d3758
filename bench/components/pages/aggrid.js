// AG Grid: a thousand rows of which some twenty are drawn; cells are edited, filtered, sorted, chosen.
import { AllCommunityModule, ModuleRegistry, createGrid } from "ag-grid-community";

ModuleRegistry.registerModules([AllCommunityModule]);
const MAKES = ["Fiat", "Ford", "Honda", "Seat", "Skoda", "Volvo"];
const app = document.getElementById("app");
app.style.cssText = "height: 420px; width: 640px";
window.grid = createGrid(app, {
  rowData: Array.from({ length: 1000 }, (_, n) => ({ id: `C-${n}`, make: MAKES[n % 6], price: 5000 + ((n * 7919) % 9000) })),
  columnDefs: [
    { field: "id", headerName: "Number" },
    { field: "make", headerName: "Make", filter: true, floatingFilter: true },
    { field: "price", headerName: "Price", editable: true },
  ],
  defaultColDef: { flex: 1 },
  rowSelection: { mode: "multiRow" },
  getRowId: ({ data }) => data.id,
});
window.price = (id) => Number(grid.getRowNode(id).data.price);
