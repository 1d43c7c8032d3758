// Pickr: a colour by its text, by a swatch, by the palette.
import Pickr from "@simonwep/pickr";
import "@simonwep/pickr/dist/themes/classic.min.css";
document.getElementById("app").innerHTML = `<div style="margin: 24px"><h3>Wall colour</h3><div id="wall"></div><p id="note"></p></div>`;
window.state = { saved: "" };
window.pickr = Pickr.create({
  el: "#wall", theme: "classic", default: "#42445a", swatches: ["#f44336", "#4caf50", "#2196f3"],
  components: { preview: true, opacity: true, hue: true, interaction: { hex: true, rgba: true, input: true, clear: true, save: true } },
});
pickr.on("save", (colour) => { state.saved = colour ? colour.toHEXA().toString() : "none"; document.getElementById("note").textContent = `Saved ${state.saved}`; });
state.saved = "";
