// flatpickr: a plain date, a range, a time, a date shown in another form than it is kept in.
import flatpickr from "flatpickr";
import "flatpickr/dist/flatpickr.css";

document.getElementById("app").innerHTML = ["Birthday", "Stay", "Alarm", "Deadline"]
  .map((name) => `<p><label>${name} <input id="${name.toLowerCase()}" placeholder="${name}…"></label></p>`).join("");
window.parts = {
  birthday: flatpickr("#birthday", {}),
  stay: flatpickr("#stay", { mode: "range", minDate: "2027-03-01" }),
  alarm: flatpickr("#alarm", { enableTime: true, noCalendar: true, dateFormat: "H:i", time_24hr: true }),
  deadline: flatpickr("#deadline", { altInput: true, altFormat: "F j, Y", dateFormat: "Y-m-d", defaultDate: "2027-03-10" }),
};
window.day = (name) => parts[name].selectedDates.map((date) => flatpickr.formatDate(date, "Y-m-d"));
