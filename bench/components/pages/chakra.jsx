// Chakra UI: a list, a number and a slider that keeps a hidden field.
import { createRoot } from "react-dom/client";
import { useState } from "react";
import { ChakraProvider, NumberInput, Portal, Select, Slider, createListCollection, defaultSystem } from "@chakra-ui/react";

const rigs = createListCollection({ items: ["Sloop", "Ketch", "Yawl"].map((label) => ({ label, value: label })) });
function App() {
  const [rig, setRig] = useState([]), [crew, setCrew] = useState("2"), [depth, setDepth] = useState([40]);
  window.values = { rig: rig.join(), crew, depth: depth[0] };
  return <>
    <Select.Root collection={rigs} value={rig} onValueChange={(e) => setRig(e.value)} width="320px">
      <Select.HiddenSelect /><Select.Label>Rig</Select.Label>
      <Select.Control><Select.Trigger><Select.ValueText placeholder="Choose one" /></Select.Trigger></Select.Control>
      <Portal><Select.Positioner><Select.Content>{rigs.items.map((item) => <Select.Item item={item} key={item.value}>{item.label}</Select.Item>)}</Select.Content></Select.Positioner></Portal>
    </Select.Root>
    <NumberInput.Root value={crew} onValueChange={(e) => setCrew(e.value)}><NumberInput.Label>Crew</NumberInput.Label><NumberInput.Control /><NumberInput.Input /></NumberInput.Root>
    <Slider.Root width="200px" value={depth} onValueChange={(e) => setDepth(e.value)}><Slider.Label>Depth</Slider.Label><Slider.Control><Slider.Track><Slider.Range /></Slider.Track><Slider.Thumbs /></Slider.Control></Slider.Root>
  </>;
}
createRoot(document.getElementById("app")).render(<ChakraProvider value={defaultSystem}><App /></ChakraProvider>);
