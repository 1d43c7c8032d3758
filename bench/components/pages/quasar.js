// Quasar: a slider, a select, a switch, a field.
import { createApp, ref, reactive } from "vue"; import { Quasar, QSlider, QSelect, QInput, QBtn, QToggle, QDate } from "quasar"; import "quasar/dist/quasar.css";
const s = reactive({ v: 20, f: null, t: false, log: [], n: "" }); window.st = () => JSON.parse(JSON.stringify(s));
createApp({ components: { QSlider, QSelect, QInput, QBtn, QToggle }, setup: () => ({ s }), template: `<div style="padding:20px;width:400px"><q-slider v-model="s.v" :min="0" :max="100" aria-label="Volume"/><q-select v-model="s.f" :options="['Apple','Pear','Fig']" label="Fruit"/><q-toggle v-model="s.t" label="Wifi"/><q-input v-model="s.n" label="Name"/><q-btn label="Send" @click="s.log.push('send')"/></div>` }).use(Quasar, {}).mount("#app");
