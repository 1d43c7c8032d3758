// xterm: a terminal that answers each line with a date.
import { Terminal } from "@xterm/xterm"; import "@xterm/xterm/css/xterm.css";
const app = document.getElementById("app"); app.innerHTML = '<h2>Shell</h2><div id=x style="width:600px;height:300px"></div>';
const t = new Terminal({rows: 12}); t.open(document.getElementById("x")); t.write("$ "); window.got = "";
t.onData((d) => { window.got += d; t.write(d === "\r" ? "\r\nSat Nov 28\r\n$ " : d); });
window.text = () => window.got;
