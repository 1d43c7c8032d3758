// Looks that changed between two walks, of what has a ref: what flashed (lights one after the other), and
// what looks otherwise now though it says the same (a button that was pressed in).
const FLASHES_KEPT = 60, FLASHES_EACH = 6; // what flashes more often is decoration
const RECORDS_READ = 300; // more at once are a page that draws itself anew
const LOOKS_KEPT = 300, RESTYLED_TOLD = 5;
const HOLDER_HOPS = 3; // a picture's stroke belongs to the button it is drawn on
let flashes = []; // elements in the order in which they left their look
let looksBefore = new Map(); // element -> { class, style, fill } as they were at the last walk

const noteLooks = (records) => {
  if (records.length > RECORDS_READ) return;
  for (const { type, attributeName, target, oldValue } of records) {
    if (type !== 'attributes' || !/^(class|style|fill)$/.test(attributeName) || !holderOf(target)) continue;
    if (!looksBefore.has(target) && looksBefore.size < LOOKS_KEPT) looksBefore.set(target, {});
    const before = looksBefore.get(target);
    if (!before) continue;
    before[attributeName] ??= oldValue ?? '';
    if (taken && (isWithin(target, taken) || isWithin(taken, target))) continue; // it answers the press
    const left = oldValue === null || oldValue === before[attributeName];
    if (left && !asBefore(target, attributeName) && flashes.length < FLASHES_KEPT) flashes.push(target);
  }
};

const holderOf = (element) => {
  for (let at = element, hops = 0; at && hops <= HOLDER_HOPS; at = composedParent(at), hops += 1) if (refOf.has(at)) return at;
  return null;
};
const asBefore = (element, name) => (element.getAttribute(name) ?? '') === looksBefore.get(element)[name];
const lookIsBack = (element) => Object.keys(looksBefore.get(element)).every((name) => asBefore(element, name));

// Gives the refs of what flashed in its order, and what looks otherwise now as [ref, how].
const passed = () => {
  const back = flashes.filter(lookIsBack).map(holderOf).filter(Boolean);
  const often = new Set(back.filter((element) => back.filter((other) => other === element).length > FLASHES_EACH));
  const changed = [...looksBefore.keys()].filter((element) => element.isConnected && !lookIsBack(element));
  const restyled = [...new Set(changed.map(holderOf))].filter(Boolean).slice(0, RESTYLED_TOLD);
  flashes = [];
  looksBefore = new Map();
  return {
    flashed: back.filter((element) => !often.has(element)).map((element) => refOf.get(element)),
    restyled: restyled.map((element) => [refOf.get(element), lookNow(element)]),
  };
};

const lookNow = (element) => {
  const style = getComputedStyle(element);
  const ink = style.color === getComputedStyle(document.body).color ? null : parseColour(style.color);
  const shape = element.querySelector('path,rect,circle,polygon');
  const paint = shape && parseColour(getComputedStyle(shape).fill);
  return [describe(element, style), ink && !shape ? `written in ${colourName(ink)}` : '', paint ? `drawn in ${colourName(paint)}` : ''].filter(Boolean).join(' ');
};
