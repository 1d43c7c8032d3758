// Select2 over jQuery: one of many with a search, several, own tags, groups.
import $ from "jquery";
import select2 from "select2";
import "select2/dist/css/select2.css";

if (typeof select2 === "function") select2(window, $);
const options = (names) => names.map((name) => `<option>${name}</option>`).join("");
const PLANETS = ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"];
document.getElementById("app").innerHTML = `<div style="margin: 24px; width: 320px">
  <p><label for="planet">Planet</label><br><select id="planet" style="width: 100%"><option></option>${options(PLANETS)}</select></p>
  <p><label for="skills">Skills</label><br><select id="skills" multiple style="width: 100%">${options(["Baking", "Carving", "Diving", "Sewing"])}</select></p>
  <p><label for="labels">Labels</label><br><select id="labels" multiple style="width: 100%"><option selected>urgent</option></select></p>
  <p><label for="zone">Time zone</label><br><select id="zone" style="width: 100%">
    <optgroup label="Alaska">${options(["Anchorage", "Juneau"])}</optgroup><optgroup label="Pacific">${options(["Seattle", "Portland"])}</optgroup></select></p></div>`;
$("#planet").select2({ placeholder: "Choose a planet", allowClear: true });
$("#skills").select2({ closeOnSelect: true });
$("#labels").select2({ tags: true, tokenSeparators: [","] });
$("#zone").select2();
window.values = () => Object.fromEntries(["planet", "skills", "labels", "zone"].map((id) => [id, $(`#${id}`).val()]));
