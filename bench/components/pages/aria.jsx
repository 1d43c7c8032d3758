// React Aria: a combobox, parts of a date, a slider, a select, a number.
import { createRoot } from "react-dom/client"; import { useState } from "react";
import { ComboBox, Label, Input, Button, Popover, ListBox, ListBoxItem, DateField, DateInput, DateSegment, Slider, SliderTrack, SliderThumb, SliderOutput, Select, SelectValue, NumberField, Group } from "react-aria-components";
window.state = {};
function App() { return <div style={{maxWidth: 400}}>
 <ComboBox onSelectionChange={(k) => { state.animal = k; }}><Label>Animal</Label><div><Input/><Button>▼</Button></div><Popover><ListBox>{["Cat","Dog","Kangaroo","Panda"].map((n) => <ListBoxItem id={n} key={n}>{n}</ListBoxItem>)}</ListBox></Popover></ComboBox>
 <DateField onChange={(v) => { state.date = v && v.toString(); }}><Label>Birthday</Label><DateInput>{(s) => <DateSegment segment={s} />}</DateInput></DateField>
 <Slider defaultValue={30} onChange={(v) => { state.volume = v; }}><Label>Volume</Label><SliderOutput/><SliderTrack style={{height: 20, width: 200, background: "#ddd"}}><SliderThumb style={{width: 16, height: 16, background: "#444", top: "50%"}}/></SliderTrack></Slider>
 <Select onSelectionChange={(k) => { state.size = k; }}><Label>Size</Label><Button><SelectValue/></Button><Popover><ListBox>{["Small","Large"].map((n) => <ListBoxItem id={n} key={n}>{n}</ListBoxItem>)}</ListBox></Popover></Select>
 <NumberField defaultValue={3} onChange={(v) => { state.count = v; }}><Label>Count</Label><Group><Button slot="decrement">-</Button><Input/><Button slot="increment">+</Button></Group></NumberField>
</div>; }
createRoot(document.getElementById("app")).render(<App/>);
window.st = () => window.state;
