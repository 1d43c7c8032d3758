// Ion.RangeSlider: one handle, two handles, and steps with names.
import $ from "jquery";
window.jQuery = window.$ = $;
import "ion-rangeslider/css/ion.rangeSlider.css";
document.getElementById("app").innerHTML = `<div style="margin: 40px 24px; width: 460px"><p>Width</p><input id="width"><p>Price</p><input id="price"><p>Month</p><input id="month"></div>`;
import("ion-rangeslider").then(() => {
  $("#width").ionRangeSlider({ min: 0, max: 100, from: 30 });
  $("#price").ionRangeSlider({ type: "double", min: 0, max: 1000, from: 200, to: 800, step: 10 });
  $("#month").ionRangeSlider({ values: ["Jan", "Feb", "Mar", "Apr", "May", "Jun"], from: 1 });
});
window.val = (id) => document.getElementById(id).value;
