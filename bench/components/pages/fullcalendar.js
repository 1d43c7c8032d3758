// FullCalendar: March 2027 with three events; views, moving, choosing, adding.
import "temporal-polyfill/global";
import { Calendar } from "fullcalendar";
import dayGrid from "fullcalendar/daygrid";
import list from "fullcalendar/list";
import interaction from "fullcalendar/interaction";
import theme from "fullcalendar/themes/classic";
import "fullcalendar/skeleton.css";
import "fullcalendar/themes/classic/theme.css";
import "fullcalendar/themes/classic/palette.css";

window.state = { opened: "", day: "" };
const app = document.getElementById("app");
app.style.cssText = "width: 900px; margin: 12px";
window.calendar = new Calendar(app, {
  plugins: [dayGrid, list, interaction, theme],
  initialView: "dayGridMonth", initialDate: "2027-03-10", timeZone: "UTC", editable: true, height: 640,
  headerToolbar: { left: "prev,next", center: "title", right: "dayGridMonth,listMonth" },
  events: [
    { id: "dentist", title: "Dentist", start: "2027-03-09" },
    { id: "concert", title: "Concert", start: "2027-03-18" },
    { id: "party", title: "Party", start: "2027-04-02" },
  ],
  eventClick: ({ event }) => { window.state.opened = event.id; },
  dateClick: ({ dateStr }) => { window.state.day = dateStr; },
});
calendar.render();
window.dayOf = (id) => calendar.getEventById(id).startStr.slice(0, 10);
