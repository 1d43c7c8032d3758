// Runs before the page's own scripts. Remembers who listens for the pointer, opens closed shadow
// roots, and counts short timers, so that a snapshot and the settling need no guesses later.
const POINTER_EVENTS = new Set([
  'click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'dblclick', 'contextmenu',
  'touchstart', 'touchend', 'dragstart', 'dragover', 'drop',
]);
const HOVER_EVENTS = new Set(['mouseenter', 'mouseover', 'pointerenter', 'pointerover']);
const heard = new WeakMap(); // element -> Map(type -> Set(listener))
const listening = new Set(); // WeakRefs of elements that have (had) a pointer listener
const internals = new WeakMap(); // custom element -> ElementInternals

const hovering = new WeakSet(); // elements that listen for the pointer to come over them
const WHEEL_EVENTS = new Set(['wheel', 'mousewheel', 'DOMMouseScroll']);
const wheeling = new WeakSet(); // elements that listen for the wheel
const remember = (target, type, listener) => {
  if (HOVER_EVENTS.has(type) && target instanceof Element) hovering.add(target);
  if (WHEEL_EVENTS.has(type) && target instanceof Element) wheeling.add(target);
  if (!POINTER_EVENTS.has(type) || !listener) return;
  let types = heard.get(target);
  if (!types) {
    heard.set(target, (types = new Map()));
    if (target instanceof Element || target instanceof ShadowRoot) listening.add(new WeakRef(target));
  }
  if (!types.has(type)) types.set(type, new Set());
  types.get(type).add(listener);
};

const forget = (target, type, listener) => {
  const types = heard.get(target);
  types?.get(type)?.delete(listener);
  if (types?.get(type)?.size === 0) types.delete(type);
};

// A Proxy keeps name, length and toString of the native function.
const around = (owner, name, apply) => {
  const native = owner?.[name];
  if (typeof native === 'function') owner[name] = new Proxy(native, { apply });
};

const watchListeners = () => {
  const proto = EventTarget.prototype;
  around(proto, 'addEventListener', (native, self, args) => {
    remember(self ?? globalThis, args[0], args[1]);
    return Reflect.apply(native, self, args);
  });
  around(proto, 'removeEventListener', (native, self, args) => {
    forget(self ?? globalThis, args[0], args[1]);
    return Reflect.apply(native, self, args);
  });
};

// What a bound method was made from: its own source says nothing.
const boundFrom = new WeakMap();
const watchBinding = () => {
  around(Function.prototype, 'bind', (native, self, args) => {
    const bound = Reflect.apply(native, self, args);
    boundFrom.set(bound, boundFrom.get(self) ?? self);
    return bound;
  });
};

// A handler set as a property (`list.onclick = …`) may act for what is inside, as a listener may.
const watchHandlers = () => {
  for (const name of ['onclick', 'onmousedown', 'onpointerdown', 'ondrop']) {
    const native = Object.getOwnPropertyDescriptor(HTMLElement.prototype, name);
    if (!native?.set) continue;
    Object.defineProperty(HTMLElement.prototype, name, {
      ...native,
      set(handler) {
        if (handler) listening.add(new WeakRef(this));
        native.set.call(this, handler);
      },
    });
  }
};

const openShadowRoots = () => {
  around(Element.prototype, 'attachShadow', (native, self, args) => {
    const [options, ...rest] = args;
    const opened = options?.mode === 'closed' ? { ...options, mode: 'open' } : options;
    return Reflect.apply(native, self, [opened, ...rest]);
  });
  around(HTMLElement.prototype, 'attachInternals', (native, self, args) => {
    const found = Reflect.apply(native, self, args);
    internals.set(self, found);
    return found;
  });
};

const shadowOf = (element) => element.shadowRoot ?? internals.get(element)?.shadowRoot ?? adopted.get(element) ?? null;

// Timers that an action starts (debounced searches, delayed dialogs) are waited for when short.
const SHORT_TIMER_MS = 700;
let timersDue = 0;
let timersOpen = 0;
let watchTimersUntil = 0;
const watchTimers = () => {
  around(globalThis, 'setTimeout', (native, self, args) => {
    const now = performance.now();
    const delay = Number(args[1]) || 0;
    const handle = Reflect.apply(native, self, args);
    if (now < watchTimersUntil && delay <= SHORT_TIMER_MS) {
      timersDue = Math.max(timersDue, now + delay);
      timersOpen += 1;
      Reflect.apply(native, self, [() => { timersOpen -= 1; }, delay]); // runs right behind the page's
    }
    return handle;
  });
};
