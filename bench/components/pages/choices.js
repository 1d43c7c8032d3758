// Choices.js: a list that is drawn anew at the press, and chips.
import Choices from "choices.js";
import "choices.js/public/assets/styles/choices.css";
document.getElementById("app").innerHTML = `<label for="port">Port</label><select id="port"><option>Hoorn<option>Edam<option>Urk</select>
  <label for="gear">Gear</label><select id="gear" multiple><option>Oars<option>Sails<option>Lamp</select>`;
new Choices("#port");
new Choices("#gear", { removeItemButton: true });
window.chosen = (id) => [...document.getElementById(id).selectedOptions].map((option) => option.value).join();
