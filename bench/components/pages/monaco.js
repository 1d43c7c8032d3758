// Monaco: a program, an empty text, a file of 500 lines.
import * as monaco from "monaco-editor";

self.MonacoEnvironment = { getWorker: () => new Worker(URL.createObjectURL(new Blob(["onmessage = () => {}"]))) };
const app = document.getElementById("app");
function editor(title, value, height) {
  const section = document.createElement("section");
  section.innerHTML = `<h2>${title}</h2><div style="height: ${height}px; width: 600px"></div>`;
  app.append(section);
  return monaco.editor.create(section.lastChild, { value, language: "plaintext", ariaLabel: title, minimap: { enabled: false } });
}
window.parts = {
  program: editor("Program", "first line\nsecond line\nthird line", 120),
  empty: editor("Scratch", "", 90),
  long: editor("Log", Array.from({ length: 500 }, (_, n) => `entry ${n}: ${n === 377 ? "ERROR" : "ok"}`).join("\n"), 160),
};
window.textOf = (name) => parts[name].getModel().getValue();
