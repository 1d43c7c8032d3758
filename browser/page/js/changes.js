// Changes between two walks: how long the page needs to settle, what flashed or appeared briefly, and which elements changed
// only in appearance. The waiting itself is done in Python, as timers in a background tab are throttled.
const QUIET_MS = 40; // without a DOM change; of nine measured actions, eight finished within 66 ms
const SHORT_TIMER_MS = 700; // wait for short timers started by an action (debounced searches, delayed dialogs)
const TIMER_WATCH_MS = 3000;
const LATE_MS = 250; // delay of a timer on a busy machine; longer in a background tab
const FOLLOW_MS = 40; // after a click on a link or a submit, the navigation starts in a later task
let mutatedAt = 0;
let timersDue = 0, timersOpen = 0, watchTimersUntil = 0;
let navigating = false;
let opening = 0; // tabs that the page has opened since `arm`
let observer = null;
let takenElement = null; // the last action's element

const arm = () => {
  mutatedAt = timersDue = opening = 0;
  watchTimersUntil = performance.now() + TIMER_WATCH_MS;
  if (observer) return;
  observer = new MutationObserver((records) => {
    mutatedAt = performance.now();
    noteChanges(records);
  });
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true });
};

// Resolves a ref for an action and starts watching: changes from now on are effects of the action.
const take = (ref) => {
  arm();
  const found = resolve(ref);
  takenElement = found.element ?? null;
  return takenElement ?? { why: found.why, candidates: found.print ? nameCandidates(found.print) : [] };
};

const watchTimers = () => {
  around(globalThis, 'setTimeout', (native, self, args) => {
    const now = performance.now();
    const delay = Number(args[1]) || 0;
    const handle = Reflect.apply(native, self, args);
    if (now < watchTimersUntil && delay <= SHORT_TIMER_MS) {
      timersDue = Math.max(timersDue, now + delay);
      timersOpen += 1;
      Reflect.apply(native, self, [() => { timersOpen -= 1; }, delay]); // runs right after the page's timer
    }
    return handle;
  });
};

const watchNewTabs = () => {
  around(globalThis, 'open', (native, self, args) => {
    opening += 1;
    return Reflect.apply(native, self, args);
  });
  const followed = (event, from) => {
    if (!from) return;
    timersDue = Math.max(timersDue, performance.now() + FOLLOW_MS);
    if (from.target === '_blank') setTimeout(() => { if (!event.defaultPrevented) opening += 1; }, 0);
  };
  globalThis.addEventListener('click', (event) => {
    followed(event, event.composedPath().find((/** @type {any} */ node) => /^(a|area)$/.test(node.localName) && node.href));
  }, true);
  globalThis.addEventListener('submit', (event) => followed(event, event.target), true);
};

const watchNavigation = () => {
  globalThis.navigation?.addEventListener('navigate', (event) => {
    if (event.destination.sameDocument || event.downloadRequest !== null || event.hashChange) return;
    navigating = true;
    // Intercepted by the page's own router, or cancelled: there will be no new document.
    setTimeout(() => { if (event.defaultPrevented) navigating = false; }, 0);
  });
  for (const type of ['navigateerror', 'navigatesuccess']) {
    globalThis.navigation?.addEventListener(type, () => { navigating = false; });
  }
};

// The remaining time of running CSS transitions, in milliseconds.
const transitionsLeft = () => {
  let left = 0;
  for (const animation of document.getAnimations()) {
    if (!(animation instanceof CSSTransition) || animation.playState !== 'running') continue;
    left = Math.max(left, Number(animation.effect.getComputedTiming().endTime) - (Number(animation.currentTime) || 0));
  }
  return left;
};

// `left` milliseconds until the page has settled, 0 if it has; `navigating` if a new document is loading.
const settleState = () => {
  const now = performance.now();
  const late = timersOpen ? Math.min(timersDue + LATE_MS - now, 20) : 0;
  const timers = timersDue ? Math.max(timersDue + 10 - now, late) : 0;
  const mutations = mutatedAt ? Math.max(mutatedAt + QUIET_MS - now, Math.min(transitionsLeft(), SHORT_TIMER_MS)) : 0;
  return { left: Math.max(0, timers, mutations), navigating, opening, ready: document.readyState };
};

const FLASH_MS = 1000; // an appearance that differs for longer is a change, not a flash
const MAX_FLASHES = 60, MAX_FLASHES_PER_ELEMENT = 6; // an element that flashes more often is decoration
const MAX_RECORDS_READ = 300; // more at once means that the page re-renders everything
const MAX_LOOKS_KEPT = 300, MAX_RESTYLED_REPORTED = 5;
const MAX_LEVELS_TO_CONTROL = 3; // up from the changed part of a control
const MIN_SHOWN_MS = 200, MAX_PASSING_CHARS = 80, MAX_PASSING_KEPT = 40, MAX_PASSING_REPORTED = 3;
let flashes = []; // { element, at }, in the order in which their appearance changed
let looksBefore = new Map(); // element -> { class, style, fill } as they were at the last walk
let passingWords = new Map(); // node -> { text, target, from, stood }: words that may vanish, such as a message that closes itself

const holderOf = (element) => outward(element, (at) => refOf.has(at), MAX_LEVELS_TO_CONTROL + 1);
const isAsBefore = (element, name) => (element.getAttribute(name) ?? '') === looksBefore.get(element)[name];
const lookIsBack = (element) => Object.keys(looksBefore.get(element)).every((name) => isAsBefore(element, name));

const noteChanges = (records) => {
  if (records.length > MAX_RECORDS_READ) return;
  for (const { type, attributeName, target, oldValue, addedNodes, removedNodes } of records) {
    if (type === 'childList') noteWords(target, addedNodes, removedNodes);
    if (type !== 'attributes' || !/^(class|style|fill)$/.test(attributeName) || !holderOf(target)) continue;
    if (!looksBefore.has(target) && looksBefore.size < MAX_LOOKS_KEPT) looksBefore.set(target, {});
    const before = looksBefore.get(target);
    if (!before) continue;
    before[attributeName] ??= oldValue ?? '';
    if (takenElement && (isWithin(target, takenElement) || isWithin(takenElement, target))) continue; // the control's own reaction to the action
    const left = oldValue === null || oldValue === before[attributeName];
    if (left && !isAsBefore(target, attributeName) && flashes.length < MAX_FLASHES) flashes.push({ element: target, at: performance.now() });
  }
};

const noteWords = (target, added, removed) => {
  const now = performance.now();
  for (const node of removed) {
    const entry = passingWords.get(node);
    if (entry) entry.stood = now - entry.from;
  }
  for (const node of added) {
    const text = passingWords.size < MAX_PASSING_KEPT && node.nodeType <= Node.TEXT_NODE ? squash(node.textContent) : '';
    if (text && text.length <= MAX_PASSING_CHARS && isShownAtAll(node.nodeType === Node.TEXT_NODE ? target : node)) passingWords.set(node, { text, target, from: now });
  }
};

// Returns the changes since the last walk: `gone`, text that appeared and vanished, as [ref, text]; `flashed`, refs in
// order; `restyled`, elements with a new appearance, as [ref, look].
const changesSince = () => {
  const went = [...passingWords].filter(([node, { stood }]) => stood >= MIN_SHOWN_MS && !node.isConnected).map(([, entry]) => entry);
  const gone = went.filter(({ text, target }) => !(target.isConnected ? target : document.body).textContent.includes(text)).slice(0, MAX_PASSING_REPORTED);
  passingWords = new Map(); // words that are still there are part of this walk
  const back = flashes.filter(({ element }) => lookIsBack(element)).map(({ element }) => holderOf(element)).filter(Boolean);
  const often = new Set(countBy(back, (element) => element).filter(([, times]) => times > MAX_FLASHES_PER_ELEMENT).map(([element]) => element));
  const changed = [...looksBefore.keys()].filter((element) => element.isConnected && !lookIsBack(element));
  const restyled = [...new Set(changed.map(holderOf))].filter((element) => element?.getClientRects().length && isShownAtAll(element)).slice(0, MAX_RESTYLED_REPORTED);
  const now = performance.now();
  flashes = flashes.filter(({ element, at }) => now - at < FLASH_MS && !lookIsBack(element)); // they may still change back
  looksBefore = new Map(flashes.map(({ element }) => [element, looksBefore.get(element)]));
  return {
    gone: gone.map(({ text, target }) => [refOf.get(holderOf(target)) ?? '', text]),
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
