// CodeMirror 6: a short text, a text of 600 lines of which a part is drawn, and one that is read only.
import { EditorView, basicSetup } from "codemirror";
import { EditorState } from "@codemirror/state";
import { javascript } from "@codemirror/lang-javascript";

const app = document.getElementById("app");
function editor(title, doc, height, extensions = []) {
  const section = document.createElement("section");
  section.innerHTML = `<h2>${title}</h2>`;
  app.append(section);
  return new EditorView({
    doc, parent: section,
    extensions: [basicSetup, javascript(), EditorView.theme({ "&": { height } }), EditorView.contentAttributes.of({ "aria-label": title }), ...extensions],
  });
}
window.parts = {
  short: editor("Greeting", 'const name = "world";\nconsole.log("hello " + name);\n', "120px"),
  long: editor("Report", Array.from({ length: 600 }, (_, n) => `row(${n}, "${n === 431 ? "FIXME" : "fine"}");`).join("\n"), "200px"),
  notes: editor("Notes", "", "80px"),
  fixed: editor("License", "Do not change.", "60px", [EditorState.readOnly.of(true)]),
};
window.textOf = (name) => parts[name].state.doc.toString();
