// CKEditor 5: a classic editor with a toolbar.
import { ClassicEditor, Essentials, Bold, Italic, Paragraph, Heading, List, Link, BlockQuote } from "ckeditor5";
import "ckeditor5/ckeditor5.css";
document.getElementById("app").innerHTML = `<div style="margin: 16px; width: 700px"><div id="text"></div></div>`;
ClassicEditor.create(document.getElementById("text"), {
  licenseKey: "GPL", plugins: [Essentials, Bold, Italic, Paragraph, Heading, List, Link, BlockQuote],
  toolbar: ["heading", "|", "bold", "italic", "link", "bulletedList", "blockQuote"], initialData: "<p>The ferry leaves at nine.</p>",
}).then((editor) => { window.editor = editor; });
