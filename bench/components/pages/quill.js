// Quill: a rich text with a toolbar.
import Quill from "quill";
import "quill/dist/quill.snow.css";

document.getElementById("app").innerHTML = `<div id="letter"><p>Dear reader,</p><p>the meeting is on Monday.</p></div>`;
window.quill = new Quill("#letter", {
  theme: "snow", placeholder: "Write…",
  modules: { toolbar: [[{ header: [1, 2, false] }], ["bold", "italic", "link"], [{ list: "ordered" }, { list: "bullet" }]] },
});
window.formatOf = (words) => quill.getFormat(quill.getText().indexOf(words), words.length);
