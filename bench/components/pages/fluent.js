// Fluent UI web components: controls in shadow roots, their texts in slots.
import { provideFluentDesignSystem, allComponents } from "@fluentui/web-components"; provideFluentDesignSystem().register(allComponents);
const app = document.getElementById("app");
app.innerHTML = `<fluent-button id=b><span>Save</span></fluent-button> <fluent-button id=b2>Plain</fluent-button>
<p>Volume</p><fluent-slider id=v min="0" max="100" value="20" step="5"></fluent-slider>
<fluent-checkbox id=c>Agree</fluent-checkbox><fluent-switch id=sw>Dark</fluent-switch>
<fluent-text-field id=t><span>Name</span></fluent-text-field>
<fluent-select id=d><fluent-option value="a">Apple</fluent-option><fluent-option value="b">Banana</fluent-option></fluent-select>
<fluent-combobox id=cb><fluent-option>Red</fluent-option><fluent-option>Blue</fluent-option></fluent-combobox>
<fluent-tabs id=tl><fluent-tab id=t1>First</fluent-tab><fluent-tab id=t2>Second</fluent-tab><fluent-tab-panel>One text</fluent-tab-panel><fluent-tab-panel>Two text</fluent-tab-panel></fluent-tabs>
<fluent-menu><fluent-menu-item id=mi>Rename</fluent-menu-item><fluent-menu-item>Copy</fluent-menu-item></fluent-menu>
<fluent-accordion><fluent-accordion-item id=ai><span slot="heading">Details</span>Hidden text here</fluent-accordion-item></fluent-accordion>
<fluent-radio-group name=size id=rg><fluent-radio value=s>Small</fluent-radio><fluent-radio value=l>Large</fluent-radio></fluent-radio-group>
<fluent-tree-view><fluent-tree-item id=ti>Root<fluent-tree-item>Child</fluent-tree-item></fluent-tree-item></fluent-tree-view>`;
window.log = []; b.addEventListener("click", () => log.push("save")); b2.addEventListener("click", () => log.push("plain")); mi.addEventListener("click", () => log.push("rename"));
window.st = () => ({ log, v: v.value, c: c.checked, sw: sw.checked, t: t.value, d: d.value, cb: cb.value, tab: tl.activeid, size: rg.value, acc: ai.expanded });
