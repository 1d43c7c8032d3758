// Before a press: is the element enabled, in view, at rest and uncovered? After a press: did the element get it?
const SHOWN_MARGIN = 1;
const CLIPS = /auto|scroll|hidden/;

const bringIntoView = (element) => {
  const rect = element.getBoundingClientRect();
  const clips = (at) => {
    const { overflowX, overflowY } = getComputedStyle(at), box = at.getBoundingClientRect();
    return (CLIPS.test(overflowY) && (rect.top < box.top - SHOWN_MARGIN || rect.bottom > box.bottom + SHOWN_MARGIN))
      || (CLIPS.test(overflowX) && (rect.left < box.left - SHOWN_MARGIN || rect.right > box.right + SHOWN_MARGIN));
  };
  const inView = rect.top >= 0 && rect.left >= 0 && rect.bottom <= innerHeight && rect.right <= innerWidth;
  const clipped = outward(composedParent(element), (at) => at === document.body || clips(at));
  if (!inView || (clipped && clipped !== document.body)) element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
};

// The wrapper that is drawn around a single field (with its value, its arrow), which takes presses for it.
const WRAPPED_AT = 4, WRAPPED_HIGH = 72; // levels; pixels
const FIELDS = 'input:not([type=hidden]),select,textarea';
const INNER_CONTROLS = 'a[href],button,input:not([type=hidden]),select,textarea,[contenteditable=""],[contenteditable=true],'
  + ['button', 'link', 'checkbox', 'radio', 'switch', 'slider', 'spinbutton', 'textbox', 'searchbox', 'combobox'].map((role) => `[role=${role}]`).join();
const wrapperOf = (element, others = INNER_CONTROLS) => {
  if (!isField(element)) return null;
  let wrapper = null;
  const most = Math.max(WRAPPED_HIGH, 2 * element.offsetHeight);
  for (let at = element.parentElement, level = 0; at && level < WRAPPED_AT; at = at.parentElement, level += 1) {
    if (at.offsetHeight > most || [...at.querySelectorAll(others)].filter(sizeable).length > 1 || /^(LABEL|FORM|BODY|TD|LI|P)$/.test(at.tagName)) break;
    wrapper = at;
  }
  return wrapper;
};

// Whether a hit counts for an element: on itself, on its content (also in a shadow root), on its wrapper, or on the label
// of a hidden control; but not on a tree item inside a tree item.
const isHitOn = (hit, element) => (isWithin(hit, element) && !(element.role === 'treeitem' && hit.closest?.('[role=treeitem]') !== element))
  || hit === element.control || (!!element.labels && [...element.labels].some((label) => isWithin(hit, label)))
  || (hit === element.getRootNode().host && !!element.querySelector('slot'))
  || (isWithin(hit, wrapperOf(element, FIELDS)) && !hit.closest('a,button,[role=button]'));
const related = (hit, element) => isHitOn(hit, element) || isWithin(element, hit);

// Controls that stand for others with the same text inside them are hit at their text; so are tree items.
const spokenFor = new WeakSet();
const wordsBox = (element) => {
  const first = element.role === 'treeitem' ? itemWords(element)[0] : [...textNodes(element)].find((node) => node.data.trim());
  if (!first) return [];
  const range = document.createRange();
  range.selectNode(first);
  return [range.getBoundingClientRect()];
};

// Points to try: the centre of the box may be empty, as for a link that is broken over two lines.
const pointsOf = (element) => {
  const words = spokenFor.has(element) || element.role === 'treeitem' ? wordsBox(element) : [];
  const boxes = [...words, element.getBoundingClientRect(), ...[...element.getClientRects()].slice(0, 4)];
  return boxes.filter((box) => box.width > 0 && box.height > 0).map(middleOf);
};
const middleOf = (box) => ({ x: box.left + box.width / 2, y: box.top + box.height / 2 });

const isMoving = (element) => element.getAnimations && document.getAnimations().some((animation) => {
  const target = /** @type {KeyframeEffect} */ (animation.effect)?.target;
  const still = animation.playState !== 'running' || animation.effect?.getTiming().iterations === Infinity;
  return target && !still && isWithin(element, target);
});

// The press is watched: another element may have come between, or the page may have rendered the element anew between
// mousedown and mouseup, so that the click goes to the common ancestor.
const PRESS_EVENTS = ['pointerdown', 'click', 'auxclick', 'contextmenu'];
let aimedAt = null;
let aimedRef = ''; // the ref of that element, by which the one that replaces it is found
let aimedOn = null; // the element at the point itself
let aimedOffset = { x: 0, y: 0 }; // of the point from the element's corner
let missedBy = '';
let pressEvents = new Set(); // types of events since `aim`

const tagLine = (element) => {
  const id = element.id ? '#' + element.id : '';
  const names = element.classList.length ? '.' + [...element.classList].slice(0, 2).join('.') : '';
  const text = shortText(element, 40);
  return `<${element.tagName.toLowerCase()}${id}${names}>${text ? ` "${text}"` : ''}`;
};

// Whether a press on `target` is one on the element: not on a control in it that appeared after `aim`, such as a menu
// that opens under the pointer.
const gets = (target, element) => {
  const control = target.closest(`${INNER_CONTROLS},label`);
  const cameBetween = aimedOn?.isConnected && control && control !== element && isWithin(control, element) && !isWithin(aimedOn, control);
  return !cameBetween && (isHitOn(target, element) || (!!shadowOf(target) && isWithin(element, target)));
};
// The element that is aimed at, or the one that has its ref since the page rendered it anew.
const aimedNow = () => {
  if (aimedAt && aimedRef && !aimedAt.isConnected) aimedAt = resolve(aimedRef).element ?? aimedAt;
  return aimedAt;
};
const watchPresses = () => {
  for (const type of PRESS_EVENTS) {
    globalThis.addEventListener(type, (event) => {
      const target = event.composedPath()[0];
      if (!aimedAt || !event.isTrusted) return;
      pressEvents.add(type);
      const aimed = type === 'pointerdown' ? aimedNow() : aimedAt;
      if (missedBy || !(target instanceof Element) || gets(target, aimed)) return;
      // A list that opens at mousedown may take the click that follows.
      if (type === 'pointerdown' || !aimedAt.isConnected) missedBy = tagLine(target);
    }, true);
  }
};
// Says who got the last press if it was not the element that was aimed at, else ''.
const missed = () => {
  if (!aimedAt) return ''; // the press led to this document
  const gone = !aimedAt.isConnected, anew = gone && !!aimedRef && !!resolve(aimedRef).element;
  aimedAt = null;
  pressEvents.delete('pointerdown');
  if (missedBy) return `it moved or was covered: the press went to ${missedBy}`;
  if (pressEvents.size) return '';
  if (gone && !anew) return 'the page took it away at the press: look whether that did it';
  return `${anew ? 'the page drew it anew under the press, and ' : ''}no click came of it`;
};

// Why the page lets nobody press an element; '' if it may be pressed, itself or by its label or content.
const PARTS_ASKED = 40;
const PRESSED_ROLES = new Set(['link', 'button', 'menuitem', 'tab']);
const SWITCHED_OFF = 'the page has switched it off (pointer-events: none)';
const takesNoPointer = (element) => getComputedStyle(element).pointerEvents === 'none';
const offReason = (element) => {
  if (element.matches(':disabled') || outward(element, (at) => at.getAttribute('aria-disabled') === 'true')) return 'it is disabled';
  if (outward(element, (at) => at.inert)) return 'the page has made this part of it inert';
  const parts = [element, shadowOf(element)].flatMap((root) => [...(root?.querySelectorAll('*') ?? [])].slice(0, PARTS_ASKED));
  return [element, ...(element.labels ?? []), ...(element.control ? [element.control] : []), ...parts].every(takesNoPointer) ? SWITCHED_OFF : '';
};

// A button or link that is itself switched off; not one of a page that an open menu has switched off as a whole.
const isSwitchedOff = (element, role, style) => style.pointerEvents === 'none' && PRESSED_ROLES.has(role)
  && !takesNoPointer(composedParent(element) ?? element) && offReason(element) === SWITCHED_OFF;

// Returns { x, y } from the element's corner, { direct } for a control without a box of its own, or { why }, with `wait` if
// waiting may help. `at` counts from the left and top; if negative, from the right and bottom.
const aim = ({ element: known, ref, at }) => {
  [aimedAt, aimedRef, aimedOn, missedBy, pressEvents] = [known, ref, null, '', new Set()];
  const element = aimedNow();
  if (!element.isConnected) return { why: 'it left the page', left: true };
  const off = offReason(element);
  if (off && !(isField(element) && off === SWITCHED_OFF)) return { why: off, off: true, wait: true };
  const atPoint = (box) => ({ x: at[0] + (at[0] < 0 ? box.right : box.left), y: at[1] + (at[1] < 0 ? box.bottom : box.top) });
  // No scrolling if it can be hit where it is: a virtual list may render its rows anew when it scrolls.
  const before = element.getBoundingClientRect(), { x, y } = at ? atPoint(before) : middleOf(before);
  const there = before.width > 0 && before.height > 0 ? deepHit(x, y) : null;
  if (!there || !isHitOn(there, element)) bringIntoView(element);
  if (isMoving(element)) return { why: 'it keeps moving', wait: true };
  if (element.tagName === 'AREA') return { direct: true }; // it has no box: it is a part of a picture
  const points = pointsOf(element);
  if (!points.length) return element.labels?.length && !off ? { direct: true } : { why: 'it has no size on the page', wait: true };
  const corner = element.getBoundingClientRect();
  let above = null;
  for (const point of at ? [atPoint(corner)] : points) {
    const hit = deepHit(point.x, point.y);
    if (hit && isHitOn(hit, element)) {
      aimedOn = hit;
      aimedOffset = { x: point.x - corner.left, y: point.y - corner.top };
      return aimedOffset;
    }
    above ??= hit;
  }
  return above ? { why: `something covers it: ${tagLine(above)}`, wait: true } : { why: 'it is outside of what can be scrolled to' };
};

const pressDirectly = () => { aimedNow().click(); };

// Where the point that was aimed at is now, in the frame's viewport: the element may have moved since, or been rendered anew.
// null if it left the page.
const aimedPoint = () => {
  const element = aimedNow();
  if (!element?.isConnected) return null;
  const corner = element.getBoundingClientRect();
  return { x: corner.left + aimedOffset.x, y: corner.top + aimedOffset.y };
};
