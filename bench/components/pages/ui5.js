// UI5 Web Components: a select, a date picker, a step input, a slider, a switch, a multi combo box.
import { registerLocaleDataLoader } from "@ui5/webcomponents-base/dist/asset-registries/LocaleData.js";
import en from "@ui5/webcomponents-localization/dist/generated/assets/cldr/en.json";
registerLocaleDataLoader("en", async () => en);
import "@ui5/webcomponents/dist/Select.js";
import "@ui5/webcomponents/dist/Option.js";
import "@ui5/webcomponents/dist/DatePicker.js";
import "@ui5/webcomponents/dist/StepInput.js";
import "@ui5/webcomponents/dist/Slider.js";
import "@ui5/webcomponents/dist/Switch.js";
import "@ui5/webcomponents/dist/MultiComboBox.js";
import "@ui5/webcomponents/dist/MultiComboBoxItem.js";
document.getElementById("app").innerHTML = `<div style="margin: 24px; width: 360px">
  <p><ui5-select id="tea" accessible-name="Tea"><ui5-option>Assam</ui5-option><ui5-option>Darjeeling</ui5-option><ui5-option>Oolong</ui5-option></ui5-select></p>
  <p><ui5-date-picker id="due" accessible-name="Due" format-pattern="yyyy-MM-dd"></ui5-date-picker></p>
  <p><ui5-step-input id="cups" accessible-name="Cups" value="3"></ui5-step-input></p>
  <p><ui5-slider id="heat" accessible-name="Heat" min="0" max="100" value="40"></ui5-slider></p>
  <p><ui5-switch id="milk" accessible-name="Milk"></ui5-switch></p>
  <p><ui5-multi-combobox id="cakes" accessible-name="Cakes"><ui5-mcb-item text="Carrot"></ui5-mcb-item><ui5-mcb-item text="Lemon"></ui5-mcb-item><ui5-mcb-item text="Plum"></ui5-mcb-item></ui5-multi-combobox></p></div>`;
window.el = (id) => document.getElementById(id);
