// Slim Select: one, several, one with search.
import SlimSelect from "slim-select";
import "slim-select/styles";
const options = (names) => names.map((n) => `<option>${n}</option>`).join("");
document.getElementById("app").innerHTML = `<div style="margin: 24px; width: 320px">
  <label for="wood">Wood</label><select id="wood">${options(["Ash", "Birch", "Cedar", "Elm"])}</select>
  <label for="tools">Tools</label><select id="tools" multiple>${options(["Chisel", "Hammer", "Plane", "Saw"])}</select>
  <label for="clerk">Clerk</label><select id="clerk">${options(Array.from({ length: 200 }, (_, n) => `Clerk ${n}`))}</select></div>`;
window.parts = Object.fromEntries(["wood", "tools", "clerk"].map((id) => [id, new SlimSelect({ select: `#${id}` })]));
