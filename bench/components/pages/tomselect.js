// Tom Select: one of many, several with remove buttons, created items, a text field of addresses.
import TomSelect from "tom-select";
import "tom-select/dist/css/tom-select.default.css";

const options = (names) => names.map((name) => `<option value="${name}">${name}</option>`).join("");
document.getElementById("app").innerHTML = `<div style="margin: 24px; width: 320px">
  <label for="crop">Crop</label><select id="crop"><option value="">Pick a crop…</option>${options(["Barley", "Maize", "Oats", "Rye", "Wheat"])}</select>
  <label for="days">Days</label><select id="days" multiple>${options(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"])}</select>
  <label for="topics">Topics</label><input id="topics" value="soil,water">
  <label for="owner">Owner</label><select id="owner"></select></div>`;
window.parts = {
  crop: new TomSelect("#crop", {}),
  days: new TomSelect("#days", { plugins: ["remove_button", "checkbox_options"] }),
  topics: new TomSelect("#topics", { create: true, plugins: ["remove_button"] }),
  owner: new TomSelect("#owner", {
    valueField: "id", labelField: "name", searchField: ["name", "mail"],
    options: Array.from({ length: 300 }, (_, n) => ({ id: String(n), name: `Person ${n}`, mail: `p${n}@example.org` })),
  }),
};
