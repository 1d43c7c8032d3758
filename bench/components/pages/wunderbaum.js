// Wunderbaum: a tree with checkboxes that can be renamed and filtered.
import { Wunderbaum } from "wunderbaum";
import "wunderbaum/dist/wunderbaum.css";
document.getElementById("app").innerHTML = `<div id="tree" style="margin: 16px; width: 420px; height: 360px"></div>`;
window.state = { active: "" };
window.tree = new Wunderbaum({
  element: document.getElementById("tree"), checkbox: true, selectMode: "multi", debugLevel: 0,
  edit: { trigger: ["F2", "macEnter"], apply: () => true },
  activate: (e) => { state.active = e.node.title; },
  source: [
    { title: "Harbour", key: "h", children: [{ title: "Cranes", key: "c" }, { title: "Docks", key: "d", children: [{ title: "North dock", key: "n" }, { title: "South dock", key: "s" }] }] },
    { title: "Market", key: "m", children: Array.from({ length: 60 }, (_, n) => ({ title: `Stall ${n}`, key: `st${n}` })) },
    { title: "Museum", key: "u" },
  ],
});
