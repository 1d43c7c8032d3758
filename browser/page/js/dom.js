// The composed tree, with open shadow roots and filled slots: an element's ancestors, descendants and text, and the
// element at a point.
const composedParent = (element) => element.parentElement ?? element.getRootNode().host ?? null;

// The first of an element and its ancestors, from the inside out, that passes a test; null if none does.
const outward = (element, test, most = Infinity) => {
  for (let at = element, hops = 0; at && hops < most; at = composedParent(at), hops += 1) if (test(at)) return at;
  return null;
};

// The slot that an element is shown in; for a closed root, it is found from the known root.
const slotOf = (element) => {
  const closed = element.parentElement && adopted.get(element.parentElement);
  return closed ? [...closed.querySelectorAll('slot')].find((slot) => slot.assignedNodes().includes(element)) ?? null : element.assignedSlot;
};

const isWithin = (inner, outer) => {
  for (let at = inner; at; at = slotOf(at) ?? composedParent(at)) if (at === outer) return true;
  return false;
};

const everyElement = function* (root = document) {
  for (const element of root.querySelectorAll('*')) {
    yield element;
    const shadow = shadowOf(element);
    if (shadow) yield* everyElement(shadow);
  }
};

// An element's children in the composed tree.
const childrenOf = (element) => {
  const shadow = shadowOf(element);
  if (shadow) return shadow.childNodes;
  const assigned = element.tagName === 'SLOT' ? element.assignedNodes() : [];
  return assigned.length ? assigned : element.childNodes;
};

const WITHOUT_TEXT = /^(SCRIPT|STYLE|NOSCRIPT)$/;
const textNodes = function* (root) {
  for (const node of childrenOf(root)) {
    if (node.nodeType === Node.TEXT_NODE) yield node;
    else if (node.nodeType === Node.ELEMENT_NODE && !WITHOUT_TEXT.test(node.tagName)) yield* textNodes(node);
  }
};

// The same, but many times faster, for entire documents: only elements with a shadow root are walked by `textNodes`.
const allTextNodes = function* (root) {
  if (shadowOf(root) || root.getRootNode() !== document) {
    yield* textNodes(root);
    return;
  }
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  /** @type {any} */
  let node = walker.nextNode();
  while (node) {
    const isText = node.nodeType === Node.TEXT_NODE, shadow = !isText && shadowOf(node);
    if (isText) yield node;
    if (shadow) yield* textNodes(node);
    node = shadow || (!isText && WITHOUT_TEXT.test(node.tagName)) ? nextOutside(walker) : walker.nextNode();
  }
};
const nextOutside = (walker) => {
  for (;;) {
    const next = walker.nextSibling();
    if (next || !walker.parentNode()) return next;
  }
};

const squash = (text) => (text ?? '').replace(/\s+/g, ' ').trim();

// The beginning of an element's text: reading all of a large container for a name takes seconds.
const shortText = (element, limit) => {
  if (shadowOf(element) || element.getRootNode() !== document) {
    let text = '';
    for (const node of textNodes(element)) {
      text = squash(`${text} ${node.data.slice(0, limit)}`);
      if (text.length >= limit) break;
    }
    return text.slice(0, limit);
  }
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT); // many times faster than `textNodes`
  let text = '';
  for (let node = walker.nextNode(), steps = 0; node && text.length < limit && steps < 400; node = walker.nextNode(), steps += 1) {
    if (!WITHOUT_TEXT.test(node.parentElement?.tagName)) text += ' ' + node.textContent.slice(0, limit);
    text = text.replace(/\s+/g, ' ');
  }
  return text.trim().slice(0, limit);
};

const isRoot = (target) => target === document || target === globalThis || target === document.body || target === document.documentElement;

const matchAll = (scope, selector) => {
  try {
    return scope.querySelectorAll(selector);
  } catch {
    return []; // not a selector: a string found in a handler may be anything
  }
};

const deepHit = (x, y) => {
  let hit = document.elementFromPoint(x, y);
  for (let shadow = hit && shadowOf(hit); shadow; shadow = hit && shadowOf(hit)) {
    const inner = shadow.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
};

const MIN_SIZEABLE_PX = 8; // smaller elements are for screen readers only
const sizeable = (element) => {
  const { width, height } = element.getBoundingClientRect();
  return width >= MIN_SIZEABLE_PX && height >= MIN_SIZEABLE_PX;
};
const isShownAtAll = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });

// Whether an element fills at least half of an ancestor's width and height.
const fills = (element, outer) => {
  const [own, around] = [element, outer].map((one) => one?.getBoundingClientRect());
  return !!around && own.width >= around.width / 2 && own.height >= around.height / 2;
};

const sizeOf = (box) => `${Math.round(box.width)}×${Math.round(box.height)}`;

// Returns the rows and columns of boxes, as their distinct top and left edges in whole pixels, in order.
const gridOf = (boxes) => ['top', 'left'].map((side) => [...new Set(boxes.map((box) => Math.round(box[side])))].sort((a, b) => a - b));

// Counts values: [value, count] pairs, the most frequent first.
const countBy = (items, valueOf) => {
  const counts = new Map();
  for (const item of items) counts.set(valueOf(item), (counts.get(valueOf(item)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
};
