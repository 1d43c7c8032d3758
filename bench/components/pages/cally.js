// Cally: calendars as web components.
import "cally";
document.getElementById("app").innerHTML = `<div style="margin: 16px"><h3>Arrival</h3><calendar-date id="arrival" value="2027-03-05"><button slot="previous">Back</button><button slot="next">Forward</button><calendar-month></calendar-month></calendar-date>
  <h3>Holiday</h3><calendar-range id="holiday" months="2" focused-date="2027-06-01"><button slot="previous">Earlier</button><button slot="next">Later</button><div style="display: flex; gap: 16px"><calendar-month></calendar-month><calendar-month offset="1"></calendar-month></div></calendar-range></div>`;
window.el = (id) => document.getElementById(id);
