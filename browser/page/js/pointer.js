// Before a press: is the element enabled, in view, uncovered and not moving? After a press: did the element receive it?
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

// The wrapper drawn around a single field (with its value and arrow), which takes presses for it.
const MAX_LEVELS_TO_WRAPPER = 4, MAX_WRAPPER_HEIGHT_PX = 72;
const FIELDS = 'input:not([type=hidden]),select,textarea';
const INNER_CONTROLS = 'a[href],button,input:not([type=hidden]),select,textarea,[contenteditable=""],[contenteditable=true],'
  + ['button', 'link', 'checkbox', 'radio', 'switch', 'slider', 'spinbutton', 'textbox', 'searchbox', 'combobox'].map((role) => `[role=${role}]`).join();
const wrapperOf = (element, others = INNER_CONTROLS) => {
  if (!isField(element)) return null;
  let wrapper = null;
  const most = Math.max(MAX_WRAPPER_HEIGHT_PX, 2 * element.offsetHeight);
  for (let at = element.parentElement, level = 0; at && level < MAX_LEVELS_TO_WRAPPER; at = at.parentElement, level += 1) {
    if (at.offsetHeight > most || [...at.querySelectorAll(others)].filter(sizeable).length > 1 || /^(LABEL|FORM|BODY|TD|LI|P)$/.test(at.tagName)) break;
    wrapper = at;
  }
  return wrapper;
};

// A custom element's host, which takes the presses on a part that fills it and passes them through.
const pressedFor = (element) => {
  const { host } = element.getRootNode();
  return host && !takesNoPointer(host) && fills(element, host) ? host : null;
};

// Whether an element shows text from a host around it, through slots of one or more shadow roots: the text is in the host,
// so a hit on it is a hit on the host.
const showsTextOf = (host, element) => !!shadowOf(host) && host !== element && isWithin(element, host)
  && [...element.querySelectorAll('slot')].some((slot) => slot.assignedNodes({ flatten: true }).some((node) => node.parentNode === host && node.nodeType === Node.TEXT_NODE));

// Whether a hit counts for an element: on itself, its content (also in a shadow root), its wrapper, or a hidden control's
// label; but not on a tree item inside a tree item.
const isHitOn = (hit, element) => (isWithin(hit, element) && !(element.role === 'treeitem' && hit.closest?.('[role=treeitem]') !== element))
  || hit === element.control || (!!element.labels && [...element.labels].some((label) => isWithin(hit, label)))
  || showsTextOf(hit, element) || (hit === pressedFor(element) && takesNoPointer(element))
  || (isWithin(hit, wrapperOf(element, FIELDS)) && !hit.closest('a,button,[role=button]'));
const related = (hit, element) => isHitOn(hit, element) || isWithin(element, hit);

// Controls that contain other controls with the same text are clicked at their text, as are tree items.
const spokenFor = new WeakSet();
const wordsBox = (element) => {
  const first = element.role === 'treeitem' ? itemWords(element)[0] : [...textNodes(element)].find((node) => node.data.trim());
  if (!first) return [];
  const range = document.createRange();
  range.selectNode(first);
  return [range.getBoundingClientRect()];
};

// Points to try: the box's centre may be empty, as with a link split across two lines, or covered, as with a shape in a
// drawing under its label.
const SPOTS = [0.25, 0.75, 0.06, 0.94]; // of the width and height
const pointsOf = (element) => {
  const words = spokenFor.has(element) || element.role === 'treeitem' ? wordsBox(element) : [];
  const boxes = [...words, element.getBoundingClientRect(), ...[...element.getClientRects()].slice(0, 4)];
  const sized = boxes.filter((box) => box.width > 0 && box.height > 0), last = sized.at(words.length);
  const spots = last ? SPOTS.flatMap((across) => SPOTS.map((down) => ({ x: last.left + across * last.width, y: last.top + down * last.height }))) : [];
  return [...sized.map(middleOf), ...spots];
};
const middleOf = (box) => ({ x: box.left + box.width / 2, y: box.top + box.height / 2 });

const isMoving = (element) => element.getAnimations && document.getAnimations().some((animation) => {
  const target = /** @type {KeyframeEffect} */ (animation.effect)?.target;
  const still = animation.playState !== 'running' || animation.effect?.getTiming().iterations === Infinity;
  return target && !still && isWithin(element, target);
});

// The press is watched: another element may have come in between, or the page may have re-rendered the element between
// mousedown and mouseup, so that the click goes to the common ancestor.
const PRESS_EVENTS = ['pointerdown', 'click', 'auxclick', 'contextmenu'];
let aimedAt = null;
let aimedRef = ''; // that element's ref, used to find its replacement
let aimedOn = null; // the element at the point itself
let aimedOffset = { x: 0, y: 0 }; // the point's offset from the element's corner
let missedBy = '';
let pressEvents = new Set(); // event types since `aim`

const tagLine = (element) => {
  const id = element.id ? '#' + element.id : '';
  const names = element.classList.length ? '.' + [...element.classList].slice(0, 2).join('.') : '';
  const text = shortText(element, 40);
  return `<${element.tagName.toLowerCase()}${id}${names}>${text ? ` "${text}"` : ''}`;
};

// Whether a press on `target` counts for the element: not on a control in it that appeared after `aim`, such as a menu
// that opens under the pointer.
const gets = (target, element) => {
  const control = target.closest(`${INNER_CONTROLS},label`);
  const isOwnLabel = control?.tagName === 'LABEL' && control.getRootNode() === shadowOf(element); // a custom control's text
  const cameBetween = aimedOn?.isConnected && control && control !== element && !isOwnLabel && isWithin(control, element) && !isWithin(aimedOn, control);
  return !cameBetween && (isHitOn(target, element) || (!!shadowOf(target) && isWithin(element, target)));
};
// The target element or, if the page re-rendered it, the element that now has its ref.
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
      if (pressEvents.has('click') && isWithin(target, aimed)) return; // a cell opened its field at the first of two presses
      // A list that opens at mousedown may take the click that follows.
      if (type === 'pointerdown' || !aimedAt.isConnected) missedBy = tagLine(target);
    }, true);
  }
};
// Returns the element that received the last press if it was not the target, or else ''.
const missed = () => {
  if (!aimedAt) return ''; // the press opened this document
  const gone = !aimedAt.isConnected, anew = gone && !!aimedRef && !!resolve(aimedRef).element;
  const isChoice = roleOf(aimedAt) === 'option'; // some lists choose and close at mousedown
  aimedAt = null;
  pressEvents.delete('pointerdown');
  if (missedBy) return `it moved or was covered: the press went to ${missedBy}`;
  if (pressEvents.size) return '';
  if (gone && !anew && isChoice) return '';
  if (gone && !anew) return 'the page removed it when it was pressed: check whether that worked';
  return `${anew ? 'the page re-rendered it during the press, and ' : ''}no click resulted`;
};

// Why the page prevents an element from being pressed; '' if it, its label or its content can be pressed.
const MAX_PARTS_CHECKED = 40;
const PRESSED_ROLES = new Set(['link', 'button', 'menuitem', 'tab']);
const SWITCHED_OFF = 'the page has disabled it (pointer-events: none)';
const takesNoPointer = (element) => getComputedStyle(element).pointerEvents === 'none';
const offReason = (element) => {
  if (element.matches(':disabled') || outward(element, (at) => at.getAttribute('aria-disabled') === 'true')) return 'it is disabled';
  if (outward(element, (at) => at.inert)) return 'the page has made this part inert';
  if (pressedFor(element)) return '';
  const parts = [element, shadowOf(element)].flatMap((root) => [...(root?.querySelectorAll('*') ?? [])].slice(0, MAX_PARTS_CHECKED));
  return [element, ...(element.labels ?? []), ...(element.control ? [element.control] : []), ...parts].every(takesNoPointer) ? SWITCHED_OFF : '';
};

// A button or link that is itself disabled; not one on a page that an open menu has disabled entirely.
const isSwitchedOff = (element, role, style) => style.pointerEvents === 'none' && PRESSED_ROLES.has(role)
  && !takesNoPointer(composedParent(element) ?? element) && offReason(element) === SWITCHED_OFF;

// Returns { x, y } from the element's corner, { direct } for a control without its own box, or { why }, with `wait` if
// waiting may help. `at` is relative to the left and top; if negative, to the right and bottom.
const aim = ({ element: known, ref, at }) => {
  [aimedAt, aimedRef, aimedOn, missedBy, pressEvents] = [known, ref, null, '', new Set()];
  const element = aimedNow();
  if (!element.isConnected) return { why: 'it left the page', left: true };
  const off = offReason(element);
  if (off && !(isField(element) && off === SWITCHED_OFF)) return { why: off, off: true, wait: true };
  const atPoint = (box) => ({ x: at[0] + (at[0] < 0 ? box.right : box.left), y: at[1] + (at[1] < 0 ? box.bottom : box.top) });
  // Do not scroll if the element can be hit where it is: a virtual list may re-render its rows when it scrolls.
  const before = element.getBoundingClientRect(), { x, y } = at ? atPoint(before) : middleOf(before);
  const there = before.width > 0 && before.height > 0 ? deepHit(x, y) : null;
  if (!there || !isHitOn(there, element)) bringIntoView(element);
  if (isMoving(element)) return { why: 'it keeps moving', wait: true };
  if (element.tagName === 'AREA') return { direct: true }; // it has no box, as it is part of a picture
  const points = pointsOf(element);
  if (!points.length) return element.labels?.length && !off ? { direct: true } : { why: 'it has no size on the page', wait: true, over: besideHidden(element) };
  if (getComputedStyle(element).visibility !== 'visible') return { why: 'it is not visible', wait: true, over: besideHidden(element) };
  const corner = element.getBoundingClientRect();
  if (at && (({ x, y }) => x < corner.left || x > corner.right || y < corner.top || y > corner.bottom)(atPoint(corner))) return { why: `the point is outside it: it measures ${sizeOf(corner)} pixels` };
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
  return above ? { why: `something covers it: ${tagLine(above)}`, wait: true } : { why: 'it is outside the scrollable area' };
};

// The middle of the nearest visible element around a hidden one, such as its row, which may show it under the pointer.
const besideHidden = (element) => {
  const around = outward(composedParent(element), (at) => sizeable(at) && getComputedStyle(at).visibility === 'visible');
  return around && around !== document.body ? middleOf(around.getBoundingClientRect()) : null;
};

const pressDirectly = () => { aimedNow().click(); };

// The target point's current position in the frame's viewport, as the element may have moved or been re-rendered; and what
// covers it there now, such as a menu that opens under the pointer. null if it is no longer on the page.
const aimedPoint = () => {
  const element = aimedNow();
  if (!element?.isConnected) return null;
  const corner = element.getBoundingClientRect(), x = corner.left + aimedOffset.x, y = corner.top + aimedOffset.y;
  const hit = deepHit(x, y);
  return { x, y, over: hit && !gets(hit, element) ? tagLine(hit) : '' };
};
