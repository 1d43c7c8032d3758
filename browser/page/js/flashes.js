// Looks that changed between two walks, of what has a ref: what flashed (lights one after the other), and
// what looks otherwise now though it says the same (a button that was pressed in).
const FLASHES_KEPT = 60, FLASHES_EACH = 6; // what flashes more often is decoration
const RECORDS_READ = 300; // more at once are a page that draws itself anew
const LOOKS_KEPT = 300, RESTYLED_TOLD = 5;
const HOLDER_HOPS = 3; // a picture's stroke belongs to the button it is drawn on
let flashes = []; // { element, at } in the order in which they left their look
let looksBefore = new Map(); // element -> { class, style, fill } as they were at the last walk

const noteLooks = (records) => {
  if (records.length > RECORDS_READ) return;
  for (const { type, attributeName, target, oldValue, addedNodes, removedNodes } of records) {
    if (type === 'childList') noteWords(target, addedNodes, removedNodes);
    if (type !== 'attributes' || !/^(class|style|fill)$/.test(attributeName) || !holderOf(target)) continue;
    if (!looksBefore.has(target) && looksBefore.size < LOOKS_KEPT) looksBefore.set(target, {});
    const before = looksBefore.get(target);
    if (!before) continue;
    before[attributeName] ??= oldValue ?? '';
    if (taken && (isWithin(target, taken) || isWithin(taken, target))) continue; // it answers the press
    const left = oldValue === null || oldValue === before[attributeName];
    if (left && !asBefore(target, attributeName) && flashes.length < FLASHES_KEPT) flashes.push({ element: target, at: nativeNow() });
  }
};

const holderOf = (element) => {
  for (let at = element, hops = 0; at && hops <= HOLDER_HOPS; at = composedParent(at), hops += 1) if (refOf.has(at)) return at;
  return null;
};
const asBefore = (element, name) => (element.getAttribute(name) ?? '') === looksBefore.get(element)[name];
const lookIsBack = (element) => Object.keys(looksBefore.get(element)).every((name) => asBefore(element, name));

// Words that stood for a while and are gone: the second card of a pair, a message that closes itself.
const STOOD_MS = 200, STOOD_CHARS = 80, WORDS_KEPT = 40, WORDS_TOLD = 3;
let words = new Map(); // node -> { text, target, from, stood }
const noteWords = (target, added, removed) => {
  const now = nativeNow();
  for (const node of removed) {
    const entry = words.get(node);
    if (entry) entry.stood = now - entry.from;
  }
  for (const node of added) {
    const text = words.size < WORDS_KEPT && node.nodeType <= Node.TEXT_NODE ? squash(node.textContent) : '';
    if (text && text.length <= STOOD_CHARS) words.set(node, { text, target, from: now });
  }
};
const wordsGone = () => {
  const gone = [...words].filter(([node, { stood }]) => stood >= STOOD_MS && !node.isConnected).map(([, entry]) => entry);
  words = new Map(); // what stands now is seen
  return gone.filter(({ text, target }) => !(target.isConnected ? target : document.body).textContent.includes(text))
    .slice(0, WORDS_TOLD).map(({ text, target }) => [refOf.get(holderOf(target)) ?? '', text]);
};

// Gives what stood for a while as [ref, text], the refs of what flashed in its order, and what looks
// otherwise now as [ref, how].
const FLASH_MS = 1000; // what is away for longer has changed
const passed = () => {
  const back = flashes.filter(({ element }) => lookIsBack(element)).map(({ element }) => holderOf(element)).filter(Boolean);
  const often = new Set(back.filter((element) => back.filter((other) => other === element).length > FLASHES_EACH));
  const changed = [...looksBefore.keys()].filter((element) => element.isConnected && !lookIsBack(element));
  const restyled = [...new Set(changed.map(holderOf))].filter(Boolean).slice(0, RESTYLED_TOLD);
  const now = nativeNow();
  flashes = flashes.filter(({ element, at }) => now - at < FLASH_MS && !lookIsBack(element)); // lit just now
  looksBefore = new Map(flashes.map(({ element }) => [element, looksBefore.get(element)]));
  return {
    gone: wordsGone(),
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
