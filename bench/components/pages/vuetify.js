// Vuetify: a select, a menu, a form that is checked, a combobox with chips.
import { createApp, reactive } from "vue";
import { createVuetify } from "vuetify";
import * as components from "vuetify/components";
import "vuetify/styles";

const state = (window.state = reactive({ region: null, archived: false, name: "", agreed: false, saved: null, tags: [] }));
const needed = [(value) => !!value || "This is needed"];
createApp({
  setup: () => ({
    state, needed,
    save: async (event) => { if ((await event).valid) state.saved = { name: state.name, agreed: state.agreed }; },
  }),
  template: `
    <v-app><v-main><div style="margin: 24px; width: 420px">
      <v-select label="Region" v-model="state.region" :items="['Nevada', 'Oregon', 'Texas', 'Utah']" />
      <v-menu><template #activator="{ props }"><v-btn v-bind="props">Actions</v-btn></template>
        <v-list><v-list-item title="Rename" /><v-list-item title="Archive" @click="state.archived = true" /></v-list></v-menu>
      <v-form @submit.prevent="save">
        <v-text-field label="Full name" v-model="state.name" :rules="needed" counter="20" />
        <v-checkbox label="I agree to the terms" v-model="state.agreed" :rules="needed" />
        <v-btn type="submit">Save</v-btn>
      </v-form>
      <v-combobox label="Tags" v-model="state.tags" :items="['red', 'green', 'blue']" multiple chips />
    </div></v-main></v-app>`,
}).use(createVuetify({ components })).mount("#app");
