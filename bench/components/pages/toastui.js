// Toast UI Editor: WYSIWYG and Markdown.
import Editor from "@toast-ui/editor";
import "@toast-ui/editor/dist/toastui-editor.css";
document.getElementById("app").innerHTML = `<div id="editor" style="margin: 16px; width: 760px"></div>`;
window.editor = new Editor({ el: document.getElementById("editor"), height: "300px", initialEditType: "wysiwyg", initialValue: "The *lighthouse* was painted in 1921.", usageStatistics: false });
