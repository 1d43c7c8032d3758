// Radix primitives without any style of their own: select, menu with a submenu, dialog, tabs, context menu.
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { ContextMenu, Dialog, DropdownMenu, Select, Tabs } from "radix-ui";

window.state = { fruit: "", wrap: false, exported: "", name: "Ada", removed: "" };
const set = (more) => Object.assign(window.state, more);
const box = { background: "white", border: "1px solid gray", padding: 8 };

function Options() {
  const [wrap, setWrap] = useState(false);
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger>Options</DropdownMenu.Trigger>
      <DropdownMenu.Portal><DropdownMenu.Content style={box}>
        <DropdownMenu.CheckboxItem checked={wrap} onCheckedChange={(on) => { setWrap(on); set({ wrap: on }); }}>Wrap lines</DropdownMenu.CheckboxItem>
        <DropdownMenu.Sub>
          <DropdownMenu.SubTrigger>Export as</DropdownMenu.SubTrigger>
          <DropdownMenu.Portal><DropdownMenu.SubContent style={box}>
            <DropdownMenu.Item onSelect={() => set({ exported: "pdf" })}>PDF</DropdownMenu.Item>
            <DropdownMenu.Item onSelect={() => set({ exported: "csv" })}>CSV</DropdownMenu.Item>
          </DropdownMenu.SubContent></DropdownMenu.Portal>
        </DropdownMenu.Sub>
      </DropdownMenu.Content></DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Profile() {
  const [name, setName] = useState("Ada");
  return (
    <Dialog.Root>
      <Dialog.Trigger>Edit profile</Dialog.Trigger>
      <Dialog.Portal><Dialog.Overlay style={{ position: "fixed", inset: 0, background: "#0008" }} />
        <Dialog.Content style={{ ...box, position: "fixed", top: 80, left: 80 }}>
          <Dialog.Title>Profile</Dialog.Title><Dialog.Description>What others see of you.</Dialog.Description>
          <label>Name <input value={name} onChange={(e) => setName(e.target.value)} /></label>
          <Dialog.Close onClick={() => set({ name })}>Save changes</Dialog.Close>
        </Dialog.Content></Dialog.Portal>
    </Dialog.Root>
  );
}

function App() {
  return (
    <div style={{ margin: 24 }}>
      <Select.Root onValueChange={(fruit) => set({ fruit })}>
        <Select.Trigger aria-label="Fruit"><Select.Value placeholder="Choose a fruit" /></Select.Trigger>
        <Select.Portal><Select.Content style={box}><Select.Viewport>
          {["Apple", "Banana", "Grapes", "Quince"].map((name) => (
            <Select.Item key={name} value={name.toLowerCase()}><Select.ItemText>{name}</Select.ItemText></Select.Item>))}
        </Select.Viewport></Select.Content></Select.Portal>
      </Select.Root>
      <Options /><Profile />
      <Tabs.Root defaultValue="files">
        <Tabs.List><Tabs.Trigger value="account">Account</Tabs.Trigger><Tabs.Trigger value="files">Files</Tabs.Trigger></Tabs.List>
        <Tabs.Content value="account">Nothing to do here.</Tabs.Content>
        <Tabs.Content value="files">
          {["draft.txt", "photo.png"].map((file) => (
            <ContextMenu.Root key={file}>
              <ContextMenu.Trigger><p>{file}</p></ContextMenu.Trigger>
              <ContextMenu.Portal><ContextMenu.Content style={box}>
                <ContextMenu.Item>Open</ContextMenu.Item>
                <ContextMenu.Item onSelect={() => set({ removed: file })}>Remove</ContextMenu.Item>
              </ContextMenu.Content></ContextMenu.Portal>
            </ContextMenu.Root>))}
        </Tabs.Content>
      </Tabs.Root>
    </div>
  );
}
createRoot(document.getElementById("app")).render(<App />);
