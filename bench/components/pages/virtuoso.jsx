// React Virtuoso: 5,000 rows of which few are drawn, and a list that loads more at its end.
import { createRoot } from "react-dom/client";
import { useState } from "react";
import { Virtuoso } from "react-virtuoso";
window.state = { opened: "", liked: "" };
const More = () => {
  const [count, setCount] = useState(40);
  return <Virtuoso style={{ height: 240, width: 300 }} totalCount={count} endReached={() => { if (count < 400) setTimeout(() => setCount(count + 40), 150); }} itemContent={(n) => <div style={{ padding: 8 }}>Letter {n} from {["Ada", "Bo", "Cy"][n % 3]} <button onClick={() => { state.liked = `Letter ${n}`; }}>Like</button></div>} />;
};
const App = () => (<div style={{ margin: 16, display: "flex", gap: 24 }}>
  <Virtuoso style={{ height: 300, width: 300 }} totalCount={5000} itemContent={(n) => <div style={{ padding: n % 5 ? 6 : 20 }} onClick={() => { state.opened = `Ship ${n}`; }}>Ship {n}, {(n * 37) % 1000} tons</div>} /><More /></div>);
createRoot(document.getElementById("app")).render(<App />);
