// Kendo UI Core: a list, a number whose field is swapped when it is focused, and times that a button lists.
import $ from "jquery";
window.jQuery = window.$ = $;
import("kendo-ui-core").then(() => {
  document.getElementById("app").innerHTML = `<label for="size">Size</label> <input id="size"> <label for="crew">Crew</label> <input id="crew"> <label for="tide">Tide</label> <input id="tide">`;
  $("#size").kendoDropDownList({ dataSource: ["Small", "Medium", "Large"] });
  $("#crew").kendoNumericTextBox({ min: 0, max: 99, format: "n0", value: 3 });
  $("#tide").kendoTimePicker({});
});
window.val = (id) => document.getElementById(id).value;
