// Before the pointer comes: is the element enabled, in view, at rest, and what lies above its middle?
const SHOWN_MARGIN = 1;
const CLIPS = /auto|scroll|hidden/;

const bringIntoView = (element) => {
  const rect = element.getBoundingClientRect();
  const inside = rect.top >= 0 && rect.left >= 0 && rect.bottom <= innerHeight && rect.right <= innerWidth;
  if (!inside || clippedByScroller(element, rect)) {
    element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  }
};

const clippedByScroller = (element, rect) => {
  for (let at = composedParent(element); at && at !== document.body; at = composedParent(at)) {
    const { overflowX, overflowY } = getComputedStyle(at);
    const box = at.getBoundingClientRect();
    if (CLIPS.test(overflowY) && (rect.top < box.top - SHOWN_MARGIN || rect.bottom > box.bottom + SHOWN_MARGIN)) return true;
    if (CLIPS.test(overflowX) && (rect.left < box.left - SHOWN_MARGIN || rect.right > box.right + SHOWN_MARGIN)) return true;
  }
  return false;
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

const isWithin = (inner, outer) => {
  for (let at = inner; at; at = at.assignedSlot ?? composedParent(at)) if (at === outer) return true;
  return false;
};

// What is drawn around a field and for it alone (its value, its arrow) takes the press for it.
const WRAPPED_AT = 4, WRAPPED_HIGH = 72; // levels; pixels
const FIELDS = 'input:not([type=hidden]),select,textarea';
const wrapperOf = (element, others = INNER) => {
  if (!isField(element)) return null;
  let wrapper = null;
  const most = Math.max(WRAPPED_HIGH, 2 * element.offsetHeight);
  for (let at = element.parentElement, level = 0; at && level < WRAPPED_AT; at = at.parentElement, level += 1) {
    if (at.offsetHeight > most || [...at.querySelectorAll(others)].filter(sizeable).length > 1 || /^(LABEL|FORM|BODY|TD|LI|P)$/.test(at.tagName)) break;
    wrapper = at;
  }
  return wrapper;
};

// A click lands rightly on the element, on what is in it (the words of a component are its host's), on what
// is drawn for it, or on the label of a hidden control; in an item of a tree not on another item in it.
const lands = (hit, element) => (isWithin(hit, element) && !(element.role === 'treeitem' && hit.closest?.('[role=treeitem]') !== element))
  || hit === element.control || (!!element.labels && [...element.labels].some((label) => isWithin(hit, label)))
  || (hit === element.getRootNode().host && !!element.querySelector('slot'))
  || (isWithin(hit, wrapperOf(element, FIELDS)) && !hit.closest('a,button,[role=button]'));

const tagLine = (element) => {
  const id = element.id ? '#' + element.id : '';
  const names = element.classList.length ? '.' + [...element.classList].slice(0, 2).join('.') : '';
  const text = shortText(element, 40);
  return `<${element.tagName.toLowerCase()}${id}${names}>${text ? ` "${text}"` : ''}`;
};

// Controls that stand for further ones inside them, which say the same: they are hit at their words.
const spokenFor = new WeakSet();
const wordsBox = (element) => {
  const first = element.role === 'treeitem' ? itemWords(element)[0] : [...textNodes(element)].find((node) => node.data.trim());
  if (!first) return [];
  const range = document.createRange();
  range.selectNode(first);
  return [range.getBoundingClientRect()];
};

// Points of a box to try: a link broken over two lines has nothing in its middle.
const pointsOf = (element) => {
  const words = spokenFor.has(element) || element.role === 'treeitem' ? wordsBox(element) : [];
  const boxes = [...words, element.getBoundingClientRect(), ...[...element.getClientRects()].slice(0, 4)];
  return boxes.filter((box) => box.width > 0 && box.height > 0)
    .map((box) => ({ x: box.left + box.width / 2, y: box.top + box.height / 2 }));
};

const moving = (element) => element.getAnimations && document.getAnimations().some((animation) => {
  const target = /** @type {KeyframeEffect} */ (animation.effect)?.target;
  const still = animation.playState !== 'running' || animation.effect?.getTiming().iterations === Infinity;
  return target && !still && isWithin(element, target);
});

// `at` counts from the left and the top; a negative one from the right and the bottom.
const fromCorner = (box, [x, y]) => ({
  x: x < 0 ? box.right + x : box.left + x, y: y < 0 ? box.bottom + y : box.top + y,
});

// What can be hit where it is needs no scrolling: a list may draw its rows anew for it.
const reached = (element, at) => {
  const box = element.getBoundingClientRect();
  const { x, y } = at ? fromCorner(box, at) : { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  const hit = box.width > 0 && box.height > 0 ? deepHit(x, y) : null;
  return !!hit && lands(hit, element);
};

// The press is watched while it happens: another element may have come between, or the page may have
// drawn the element anew under it, so that the click goes to what both stood in.
let aimedAt = null;
let aimedOn = null; // what lay at the point itself
let missedBy = '';
let heardOf = new Set(); // types of events since it was aimed
const gets = (target, element) => (lands(target, element) || (!!shadowOf(target) && isWithin(element, target))) && !cameBetween(target, element);
// Another control in the element that was not there when it was aimed, as of a menu that opens under the pointer.
const controlAt = (at) => at.closest(`${INNER},label`);
const cameBetween = (target, element) => {
  const control = controlAt(target);
  return !!aimedOn?.isConnected && !!control && control !== element && isWithin(control, element) && !isWithin(aimedOn, control);
};
const watchPresses = () => {
  for (const type of ['pointerdown', 'click', 'auxclick', 'contextmenu']) {
    globalThis.addEventListener(type, (event) => {
      const target = event.composedPath()[0];
      if (!aimedAt || !event.isTrusted) return;
      heardOf.add(type);
      if (missedBy || !(target instanceof Element) || gets(target, aimedAt)) return;
      // What opens at the press (a select's list) rightly takes the click after it.
      if (type === 'pointerdown' || !aimedAt.isConnected) missedBy = tagLine(target);
    }, true);
  }
};
// Tells what became of the last press where the element that it was aimed at did not get it, else ''.
const missed = () => {
  const anew = aimedAt && !aimedAt.isConnected;
  aimedAt = null;
  if (missedBy) return `it moved or was covered: the press went to ${missedBy}`;
  if (['click', 'auxclick', 'contextmenu'].some((type) => heardOf.has(type))) return '';
  return (anew ? 'the page drew it anew under the press, and ' : '') + 'no click came of it';
};

// Gives { x, y } from the element's corner, { direct } for a control that has no place of its own, or
// { why } with `wait` where waiting may help.
const aim = ({ element, at }) => {
  [aimedAt, aimedOn, missedBy, heardOf] = [element, null, '', new Set()];
  if (!element.isConnected) return { why: 'it left the page', left: true };
  if (element.matches(':disabled') || element.getAttribute('aria-disabled') === 'true') {
    return { why: 'it is disabled', wait: true };
  }
  if (!reached(element, at)) bringIntoView(element);
  if (moving(element)) return { why: 'it keeps moving', wait: true };
  if (element.tagName === 'AREA') return { direct: true }; // its place is on the picture
  const points = pointsOf(element);
  if (!points.length) return element.labels?.length ? { direct: true } : { why: 'it has no size on the page', wait: true };
  const corner = element.getBoundingClientRect();
  const tried = at ? [fromCorner(corner, at)] : points;
  let above = null;
  for (const point of tried) {
    const hit = deepHit(point.x, point.y);
    if (hit && lands(hit, element)) {
      aimedOn = hit;
      return { x: point.x - corner.left, y: point.y - corner.top, border: [element.clientLeft, element.clientTop] };
    }
    above ??= hit;
  }
  if (!above) return { why: 'it is outside of what can be scrolled to' };
  return { why: `something covers it: ${tagLine(above)}`, wait: true };
};
