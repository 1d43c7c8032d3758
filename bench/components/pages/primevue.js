// PrimeVue: two lists whose comboboxes are hidden fields, and a date.
import { createApp, reactive } from "vue";
import PrimeVue from "primevue/config";
import Aura from "@primeuix/themes/aura";
import DatePicker from "primevue/datepicker";
import MultiSelect from "primevue/multiselect";
import Select from "primevue/select";
window.values = reactive({ port: null, gear: [], arrival: null });
createApp({
  components: { DatePicker, MultiSelect, Select },
  setup: () => ({ values, ports: ["Hoorn", "Edam", "Urk"], gear: ["Oars", "Sails", "Lamp"] }),
  template: `<label for="p">Port</label> <Select v-model="values.port" :options="ports" inputId="p" placeholder="Choose a port" /><br>
    <label for="g">Gear</label> <MultiSelect v-model="values.gear" :options="gear" inputId="g" placeholder="Choose gear" /><br>
    <label for="a">Arrival</label> <DatePicker v-model="values.arrival" inputId="a" />`,
}).use(PrimeVue, { theme: { preset: Aura } }).mount("#app");
