// Ark UI: a combobox, a tags input, a number input, a pin input, a slider, a rating, an editable.
import { createRoot } from "react-dom/client";
import { Combobox, createListCollection } from "@ark-ui/react/combobox";
import { TagsInput } from "@ark-ui/react/tags-input";
import { NumberInput } from "@ark-ui/react/number-input";
import { PinInput } from "@ark-ui/react/pin-input";
import { RatingGroup } from "@ark-ui/react/rating-group";
import { Editable } from "@ark-ui/react/editable";
const birds = createListCollection({ items: ["Avocet", "Bittern", "Curlew", "Dunlin"] });
window.state = {};
const App = () => (
  <div style={{ margin: 24, width: 360 }}>
    <Combobox.Root collection={birds} onValueChange={(e) => { state.bird = e.value[0]; }}>
      <Combobox.Label>Bird</Combobox.Label><Combobox.Control><Combobox.Input /><Combobox.Trigger>open</Combobox.Trigger></Combobox.Control>
      <Combobox.Positioner><Combobox.Content>{birds.items.map((b) => <Combobox.Item key={b} item={b}><Combobox.ItemText>{b}</Combobox.ItemText></Combobox.Item>)}</Combobox.Content></Combobox.Positioner>
    </Combobox.Root>
    <TagsInput.Root defaultValue={["marsh"]} onValueChange={(e) => { state.tags = e.value.join(); }}>
      <TagsInput.Context>{(api) => (<><TagsInput.Label>Habitats</TagsInput.Label><TagsInput.Control>{api.value.map((v, i) => <TagsInput.Item key={v} index={i} value={v}><TagsInput.ItemPreview><TagsInput.ItemText>{v}</TagsInput.ItemText><TagsInput.ItemDeleteTrigger>x</TagsInput.ItemDeleteTrigger></TagsInput.ItemPreview><TagsInput.ItemInput /></TagsInput.Item>)}<TagsInput.Input placeholder="Add habitat" /></TagsInput.Control></>)}</TagsInput.Context>
      <TagsInput.HiddenInput />
    </TagsInput.Root>
    <NumberInput.Root defaultValue="5" min={0} max={50} onValueChange={(e) => { state.count = e.valueAsNumber; }}><NumberInput.Label>Seen</NumberInput.Label><NumberInput.Control><NumberInput.Input /><NumberInput.IncrementTrigger>+</NumberInput.IncrementTrigger></NumberInput.Control></NumberInput.Root>
    <PinInput.Root onValueComplete={(e) => { state.pin = e.valueAsString; }}><PinInput.Label>Code</PinInput.Label><PinInput.Control>{[0, 1, 2, 3].map((i) => <PinInput.Input key={i} index={i} />)}</PinInput.Control><PinInput.HiddenInput /></PinInput.Root>
    <RatingGroup.Root count={5} defaultValue={1} onValueChange={(e) => { state.stars = e.value; }}><RatingGroup.Label>Weather</RatingGroup.Label><RatingGroup.Control><RatingGroup.Context>{(api) => api.items.map((n) => <RatingGroup.Item key={n} index={n}>★</RatingGroup.Item>)}</RatingGroup.Context><RatingGroup.HiddenInput /></RatingGroup.Control></RatingGroup.Root>
    <Editable.Root defaultValue="Morning walk" onValueCommit={(e) => { state.title = e.value; }}><Editable.Label>Title</Editable.Label><Editable.Area><Editable.Input /><Editable.Preview /></Editable.Area></Editable.Root>
  </div>
);
createRoot(document.getElementById("app")).render(<App />);
