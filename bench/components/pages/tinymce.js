// TinyMCE: a rich text in a frame of its own, with menus and a toolbar.
import tinymce from "tinymce";
import "tinymce/icons/default";
import "tinymce/themes/silver";
import "tinymce/models/dom";
import "tinymce/skins/ui/oxide/skin";
import "tinymce/skins/ui/oxide/content";
import "tinymce/skins/content/default/content";
import "tinymce/plugins/lists";

document.getElementById("app").innerHTML = `<textarea id="story"><p>Once upon a time.</p><p>They lived in a wood.</p></textarea>`;
tinymce.init({
  selector: "#story", license_key: "gpl", height: 320, plugins: "lists", promotion: false, branding: false,
  toolbar: "undo redo | blocks | bold italic | bullist numlist",
}).then(([editor]) => { window.story = editor; });
