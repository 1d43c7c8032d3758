// cmdk: a command menu that opens by a shortcut or a button.
import { createRoot } from "react-dom/client";
import { useEffect, useState } from "react";
import { Command } from "cmdk";
window.state = { ran: "" };
const App = () => {
  const [open, setOpen] = useState(false);
  useEffect(() => { const down = (e) => { if (e.key === "k" && e.ctrlKey) { e.preventDefault(); setOpen(true); } }; document.addEventListener("keydown", down); return () => document.removeEventListener("keydown", down); }, []);
  const item = (name) => <Command.Item key={name} onSelect={() => { state.ran = name; setOpen(false); }}>{name}</Command.Item>;
  return (<div style={{ margin: 24 }}><button onClick={() => setOpen(true)}>Commands</button><p>Press Ctrl+K for the menu.</p>
    <Command.Dialog open={open} onOpenChange={setOpen} label="Command menu"><div style={{ position: "fixed", top: 80, left: 120, width: 360, background: "#fff", border: "1px solid #999", padding: 12 }}><Command.Input placeholder="Type a command" /><Command.List><Command.Empty>No results.</Command.Empty><Command.Group heading="Files">{["Open file", "Save file", "Export as PDF"].map(item)}</Command.Group><Command.Group heading="Settings">{["Change theme", "Change language"].map(item)}</Command.Group></Command.List></div></Command.Dialog></div>);
};
createRoot(document.getElementById("app")).render(<App />);
