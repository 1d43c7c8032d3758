// dnd-kit: a sortable list by pointer and keyboard, and a drop zone.
import { createRoot } from "react-dom/client";
import { useState } from "react";
import { DndContext, closestCenter, KeyboardSensor, PointerSensor, useSensor, useSensors, useDroppable, useDraggable } from "@dnd-kit/core";
import { SortableContext, arrayMove, sortableKeyboardCoordinates, useSortable, verticalListSortingStrategy } from "@dnd-kit/sortable";
window.state = { order: "", basket: "" };
const Row = ({ id }) => { const s = useSortable({ id }); const t = s.transform ? `translate3d(${s.transform.x}px, ${s.transform.y}px, 0)` : undefined; return <div ref={s.setNodeRef} style={{ padding: 10, margin: 4, background: "#eef", transform: t, transition: s.transition }} {...s.attributes} {...s.listeners}>{id}</div>; };
const Fruit = ({ id }) => { const d = useDraggable({ id }); const t = d.transform ? `translate3d(${d.transform.x}px, ${d.transform.y}px, 0)` : undefined; return <button ref={d.setNodeRef} style={{ transform: t }} {...d.attributes} {...d.listeners}>{id}</button>; };
const Basket = ({ children }) => { const d = useDroppable({ id: "basket" }); return <div ref={d.setNodeRef} style={{ width: 200, height: 100, background: "#efe", marginTop: 16 }}>Basket: {children}</div>; };
const App = () => {
  const [items, setItems] = useState(["Wash", "Rinse", "Dry", "Iron", "Fold"]); const [inside, setInside] = useState("");
  const sensors = useSensors(useSensor(PointerSensor, { activationConstraint: { distance: 5 } }), useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }));
  state.order = items.join(); state.basket = inside;
  return (<div style={{ margin: 16, display: "flex", gap: 32 }}><div style={{ width: 240 }}><DndContext sensors={sensors} collisionDetection={closestCenter} onDragEnd={({ active, over }) => { if (over && active.id !== over.id) setItems((was) => arrayMove(was, was.indexOf(active.id), was.indexOf(over.id))); }}><SortableContext items={items} strategy={verticalListSortingStrategy}>{items.map((id) => <Row key={id} id={id} />)}</SortableContext></DndContext></div>
    <div><DndContext onDragEnd={({ active, over }) => { if (over) setInside(active.id); }}><Fruit id="Pear" /> <Fruit id="Fig" /><Basket>{inside || "empty"}</Basket></DndContext></div></div>);
};
createRoot(document.getElementById("app")).render(<App />);
