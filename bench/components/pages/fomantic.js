// Fomantic UI: dropdowns, a checkbox that is drawn, an accordion, a rating.
import $ from "jquery";
window.jQuery = window.$ = $;
import "fomantic-ui-css/semantic.css";
const items = (names) => names.map((n) => `<div class="item" data-value="${n.toLowerCase()}">${n}</div>`).join("");
document.getElementById("app").innerHTML = `<div style="margin: 24px; width: 360px" class="ui form">
  <div class="field"><label>Gender</label><div id="gender" class="ui selection dropdown"><input type="hidden" name="gender"><i class="dropdown icon"></i><div class="default text">Pick one</div><div class="menu">${items(["Female", "Male", "Other"])}</div></div></div>
  <div class="field"><label>Skills</label><div id="skills" class="ui fluid multiple search selection dropdown"><input type="hidden" name="skills"><i class="dropdown icon"></i><div class="default text">Skills</div><div class="menu">${items(["Angular", "Baking", "Carpentry", "Diving", "Engraving"])}</div></div></div>
  <div class="field"><div id="news" class="ui toggle checkbox"><input type="checkbox" tabindex="0" class="hidden"><label>Newsletter</label></div></div>
  <div class="ui accordion"><div class="title"><i class="dropdown icon"></i>Details</div><div class="content"><div class="field"><label for="ref">Reference</label><input id="ref"></div></div></div>
  <div class="field"><label>Rating</label><div id="stars" class="ui star rating" data-rating="1" data-max-rating="5"></div></div></div>`;
import("fomantic-ui-css/semantic.js").then(() => { $(".ui.dropdown").dropdown(); $(".ui.checkbox").checkbox(); $(".ui.accordion").accordion(); $("#stars").rating(); });
window.chosen = (id) => $(`#${id}`).dropdown("get value");
