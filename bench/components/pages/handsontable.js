// Handsontable: 400 rows with a text, a number, a dropdown and a checkbox.
import Handsontable from "handsontable";
import "handsontable/styles/handsontable.css";
import "handsontable/styles/ht-theme-main.css";
document.getElementById("app").innerHTML = `<div id="grid" style="margin: 16px"></div>`;
window.hot = new Handsontable(document.getElementById("grid"), {
  data: Array.from({ length: 400 }, (_, n) => [`Part ${n}`, 100 + n * 3, ["steel", "brass", "oak"][n % 3], n % 4 === 0]),
  colHeaders: ["Name", "Price", "Material", "Stocked"], rowHeaders: true, height: 320, width: 620, themeName: "ht-theme-main",
  columns: [{}, { type: "numeric" }, { type: "dropdown", source: ["steel", "brass", "oak", "pine"] }, { type: "checkbox" }],
  licenseKey: "non-commercial-and-evaluation", contextMenu: true, columnSorting: true,
});
window.rowOf = (name) => hot.getSourceData().find((row) => row[0] === name);
