// Air Datepicker: one day, a range, a day with its time.
import AirDatepicker from "air-datepicker";
import en from "air-datepicker/locale/en";
import "air-datepicker/air-datepicker.css";
document.getElementById("app").innerHTML = `<div style="margin: 24px; width: 300px">
  <p><label>Departure <input id="departure" readonly></label></p>
  <p><label>Trip <input id="trip" readonly></label></p>
  <p><label>Meeting <input id="meeting" readonly></label></p></div>`;
const common = { locale: en.default ?? en, startDate: new Date(2027, 2, 1), dateFormat: "yyyy-MM-dd" };
window.parts = {
  departure: new AirDatepicker("#departure", { ...common, autoClose: true }),
  trip: new AirDatepicker("#trip", { ...common, range: true, multipleDatesSeparator: " to " }),
  meeting: new AirDatepicker("#meeting", { ...common, timepicker: true, timeFormat: "HH:mm" }),
};
window.value = (id) => document.getElementById(id).value;
