// jQuery UI: a slider, an autocomplete, a spinner, a date picker, a dialog, a sortable list, a select menu.
import $ from "jquery";
window.jQuery = window.$ = $;
document.getElementById("app").innerHTML = `<div style="margin: 24px; width: 340px">
  <p id="loud">Loudness</p><div id="slider" aria-labelledby="loud"></div>
  <p><label for="city">City</label> <input id="city"></p>
  <p><label for="count">Count</label> <input id="count" value="2"></p>
  <p><label for="day">Day</label> <input id="day"></p>
  <p><label for="speed">Speed</label> <select id="speed"><option>Slow</option><option>Medium</option><option>Fast</option></select></p>
  <ul id="sort"><li>Alpha</li><li>Beta</li><li>Gamma</li></ul></div>`;
window.state = {};
import("jquery-ui/dist/jquery-ui.js").then(() => {
  $("#slider").slider({ min: 0, max: 100, value: 20 });
  $("#city").autocomplete({ source: ["Aarhus", "Bergen", "Bremen", "Brest", "Cork"], select: (_, ui) => { state.city = ui.item.value; } });
  $("#count").spinner({ min: 0, max: 20 });
  $("#day").datepicker({ defaultDate: new Date(2027, 2, 1), dateFormat: "yy-mm-dd", changeYear: true });
  $("#speed").selectmenu({ width: 160 });
  $("#sort").sortable();
});
import "jquery-ui/dist/themes/base/jquery-ui.css";
