// Materialize: a select, chips, a time picker, a modal.
import * as All from "@materializecss/materialize";
import "@materializecss/materialize/dist/css/materialize.css";
const M = All.default ?? All;
document.getElementById("app").innerHTML = `<div style="margin: 24px; width: 360px">
  <div class="input-field"><select id="meal"><option value="" disabled selected>Choose a meal</option><option value="soup">Soup</option><option value="stew">Stew</option><option value="pie">Pie</option></select><label>Meal</label></div>
  <div class="chips input-field" id="guests"></div>
  <div class="input-field"><input id="time" type="text" class="timepicker"><label for="time">Time</label></div>
  <button class="btn" id="open" data-target="ask">Book</button>
  <div id="ask" class="modal"><div class="modal-content"><h4>Book a table</h4><div class="input-field"><input id="name" placeholder=" " type="text"><label for="name">Name</label></div></div><div class="modal-footer"><button class="btn" id="yes">Confirm</button></div></div></div>`;
window.state = {};
M.FormSelect.init(document.querySelectorAll("select"));
window.chips = M.Chips.init(document.getElementById("guests"), { data: [{ id: "Ada", text: "Ada" }], allowUserInput: true, placeholder: "Guest" });
M.Timepicker.init(document.querySelectorAll(".timepicker"), { twelveHour: false, autoSubmit: false });
const modal = M.Modal?.init(document.getElementById("ask"));
const dialog = document.getElementById("ask");
document.getElementById("open").onclick = () => (modal?.open ? modal.open() : dialog.showModal?.());
document.getElementById("yes").onclick = () => { state.booked = document.getElementById("name").value; };
