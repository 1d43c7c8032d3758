// react-window: 5,000 rows of which a dozen are drawn.
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { List } from "react-window";

window.state = { edited: [], ticked: [], note: "" };

function Row({ index, style, ariaAttributes, ticked, toggle }) {
  return (
    <div style={{ ...style, display: "flex", gap: 12 }} {...ariaAttributes}>
      <span>Order {index}</span>
      <label><input type="checkbox" checked={ticked.has(index)} onChange={() => toggle(index)} /> paid</label>
      <button onClick={() => window.state.edited.push(index)}>Edit</button>
    </div>
  );
}

function App() {
  const [ticked, setTicked] = useState(new Set());
  const toggle = (index) => setTicked((old) => {
    const now = new Set(old);
    if (!now.delete(index)) now.add(index);
    window.state.ticked = [...now];
    return now;
  });
  return (
    <div>
      <h1>Orders</h1>
      <List rowComponent={Row} rowCount={5000} rowHeight={32} rowProps={{ ticked, toggle }} style={{ height: 400, width: 420, border: "1px solid gray" }} />
      <label>Note <input onChange={(e) => { window.state.note = e.target.value; }} /></label>
    </div>
  );
}
createRoot(document.getElementById("app")).render(<App />);
