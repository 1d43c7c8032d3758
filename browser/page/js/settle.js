// Tells how long the page still has to be left alone before it is looked at. The waiting itself is
// done outside: timers of a background tab are throttled.
let armedAt = 0;
let mutatedAt = 0;
let navigating = false;
let opening = 0; // tabs that are on their way since the page was armed
let observer = null;
const nativeNow = () => performance.now();
const TIMER_WATCH_MS = 3000;
const LATE_MS = 250; // a busy machine runs a timer that much later; a background tab later still
const FOLLOW_MS = 40; // a link or form that was followed begins its navigation in a task of its own

const arm = () => {
  armedAt = nativeNow();
  mutatedAt = 0;
  timersDue = 0;
  opening = 0;
  watchTimersUntil = armedAt + TIMER_WATCH_MS;
  if (!observer) {
    observer = new MutationObserver((records) => {
      mutatedAt = nativeNow();
      noteLooks(records);
    });
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true });
  }
};

const transitionsLeft = () => {
  let left = 0;
  for (const animation of document.getAnimations()) {
    if (!(animation instanceof CSSTransition) || animation.playState !== 'running') continue;
    const timing = animation.effect.getComputedTiming();
    left = Math.max(left, Number(timing.endTime) - (Number(animation.currentTime) || 0));
  }
  return left;
};

// Milliseconds until the page is quiet, 0 when it is; `navigating` when a new document is on its way.
const QUIET_MS = 40; // no DOM change for this long; of nine measured actions eight were done within 66 ms
const restState = () => {
  const now = nativeNow();
  const late = timersOpen ? Math.min(timersDue + LATE_MS - now, 20) : 0;
  const left = [timersDue ? Math.max(timersDue + 10 - now, late) : 0, mutatedAt ? mutatedAt + QUIET_MS - now : 0];
  if (mutatedAt) left.push(Math.min(transitionsLeft(), SHORT_TIMER_MS));
  return { left: Math.max(0, ...left), navigating, opening, ready: document.readyState };
};

const watchNewTabs = () => {
  around(globalThis, 'open', (native, self, args) => {
    opening += 1;
    return Reflect.apply(native, self, args);
  });
  const followed = (event, from) => {
    if (!from) return;
    timersDue = Math.max(timersDue, nativeNow() + FOLLOW_MS);
    if (from.target !== '_blank') return;
    setTimeout(() => { if (!event.defaultPrevented) opening += 1; }, 0);
  };
  globalThis.addEventListener('click', (event) => {
    followed(event, event.composedPath().find((/** @type {any} */ node) => /^(a|area)$/.test(node.localName) && node.href));
  }, true);
  globalThis.addEventListener('submit', (event) => followed(event, event.target), true);
};

const watchNavigation = () => {
  globalThis.navigation?.addEventListener('navigate', (event) => {
    if (!event.destination.sameDocument && event.downloadRequest === null && !event.hashChange) {
      navigating = true;
      // Intercepted by the page's own router, or stopped: no new document comes.
      setTimeout(() => { if (event.defaultPrevented) navigating = false; }, 0);
    }
  });
  for (const type of ['navigateerror', 'navigatesuccess']) {
    globalThis.navigation?.addEventListener(type, () => { navigating = false; });
  }
};
