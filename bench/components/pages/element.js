// Element Plus: a select, a tree with boxes, a cascader, a form with a switch, radios and a number.
import { createApp, reactive } from "vue";
import ElementPlus from "element-plus";
import "element-plus/dist/index.css";

const state = (window.state = reactive({ zone: "", path: [], push: false, pay: "card", seats: 1, sent: null }));
const leaf = (label) => ({ value: label.toLowerCase(), label });
createApp({
  setup: () => ({
    state,
    zones: ["Shanghai", "Beijing", "Shenzhen"],
    tree: [
      { id: 1, label: "Europe", children: [{ id: 11, label: "France" }, { id: 12, label: "Italy" }] },
      { id: 2, label: "Asia", children: [{ id: 21, label: "Japan" }, { id: 22, label: "Nepal" }] },
    ],
    paths: [
      { ...leaf("Guide"), children: [{ ...leaf("Layout"), children: [leaf("Grid"), leaf("Space")] }] },
      { ...leaf("Resource"), children: [leaf("Sketch"), leaf("Icons")] },
    ],
    send: () => { state.sent = { push: state.push, pay: state.pay, seats: state.seats }; },
    ticked: () => {},
  }),
  mounted() { window.tree = this.$refs.tree; },
  template: `
    <div style="margin: 24px; width: 420px">
      <el-form label-width="100px">
        <el-form-item label="Zone">
          <el-select v-model="state.zone" placeholder="Pick a zone"><el-option v-for="z in zones" :key="z" :label="z" :value="z" /></el-select>
        </el-form-item>
        <el-form-item label="Chapter"><el-cascader v-model="state.path" :options="paths" /></el-form-item>
        <el-form-item label="Push news"><el-switch v-model="state.push" /></el-form-item>
        <el-form-item label="Payment">
          <el-radio-group v-model="state.pay"><el-radio value="card">Card</el-radio><el-radio value="invoice">Invoice</el-radio></el-radio-group>
        </el-form-item>
        <el-form-item label="Seats"><el-input-number v-model="state.seats" :min="1" :max="8" /></el-form-item>
        <el-form-item><el-button type="primary" @click="send">Reserve</el-button></el-form-item>
      </el-form>
      <el-tree ref="tree" :data="tree" show-checkbox node-key="id" />
    </div>`,
}).use(ElementPlus).mount("#app");
