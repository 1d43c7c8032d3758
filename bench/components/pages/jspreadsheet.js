// Jspreadsheet: a sheet whose cells open a list on a double click.
import jspreadsheet from "jspreadsheet-ce";
import "jsuites/dist/jsuites.css";
import "jspreadsheet-ce/dist/jspreadsheet.css";
document.getElementById("app").innerHTML = `<div id="sheet"></div>`;
const [sheet] = jspreadsheet(document.getElementById("sheet"), {
  worksheets: [{ data: [["Bolt", "Steel", true], ["Nut", "Brass", false], ["Pin", "Steel", false]], columns: [{ type: "text", title: "Part" }, { type: "dropdown", title: "Metal", source: ["Steel", "Brass", "Zinc"] }, { type: "checkbox", title: "Stocked" }] }],
});
window.rowOf = (name) => sheet.getData().find((row) => row[0] === name);
