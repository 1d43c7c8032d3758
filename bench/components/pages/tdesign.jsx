// TDesign: a date, tags, and a transfer whose arrows are drawn anew.
import { createRoot } from "react-dom/client";
import { useState } from "react";
import "tdesign-react/dist/tdesign.css";
import { DatePicker, TagInput, Transfer } from "tdesign-react";

function App() {
  const [day, setDay] = useState("2027-03-05"), [trees, setTrees] = useState(["elm"]), [crew, setCrew] = useState([]);
  window.values = { day, trees, crew };
  return <>Day <DatePicker value={day} onChange={setDay} /><TagInput value={trees} onChange={setTrees} />
    <Transfer data={["Ann", "Ben", "Cleo"].map((label) => ({ label, value: label }))} value={crew} onChange={setCrew} /></>;
}
createRoot(document.getElementById("app")).render(<App />);
