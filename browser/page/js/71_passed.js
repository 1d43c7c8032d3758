// What changed its look and changed it back between two walks: lights that flash one after the other.
const FLASHES_KEPT = 60, FLASHES_EACH = 6; // what flashes more often is decoration
const RECORDS_READ = 300; // more at once are a page that draws itself anew
let flashes = []; // elements in the order in which they left their look
let looksBefore = new Map(); // element -> { class, style } as they were at the last walk

const noteLooks = (records) => {
  if (records.length > RECORDS_READ) return;
  for (const { type, attributeName, target, oldValue } of records) {
    if (type !== 'attributes' || !/^(class|style)$/.test(attributeName) || !refOf.has(target)) continue;
    if (taken && (isWithin(target, taken) || isWithin(taken, target))) continue; // it answers the press
    const before = looksBefore.get(target) ?? looksBefore.set(target, {}).get(target);
    before[attributeName] ??= oldValue ?? '';
    const left = oldValue === null || oldValue === before[attributeName];
    if (left && !asBefore(target, attributeName) && flashes.length < FLASHES_KEPT) flashes.push(target);
  }
};

const asBefore = (element, name) => (element.getAttribute(name) ?? '') === looksBefore.get(element)[name];

// Refs in the order of their flashes, once.
const passed = () => {
  const back = flashes.filter((element) => Object.keys(looksBefore.get(element)).every((name) => asBefore(element, name)));
  const often = new Set(back.filter((element) => back.filter((other) => other === element).length > FLASHES_EACH));
  flashes = [];
  looksBefore = new Map();
  return back.filter((element) => !often.has(element)).map((element) => refOf.get(element));
};
