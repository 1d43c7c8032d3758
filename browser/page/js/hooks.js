// Installed before the page's own scripts: references to native functions, and hooks that record pointer listeners and
// closed shadow roots, so that a snapshot need not guess. Their records stay in this closure; the page sees no
// difference.

// Kept because some old libraries replace them.
const { Map, Set, WeakMap, WeakSet, WeakRef, JSON, Math, Object, Promise, Proxy, Reflect, RegExp, URL, performance, getComputedStyle, setTimeout } = globalThis;

// Old libraries (Prototype.js) define a `toJSON` that breaks JSON.stringify.
const asJSON = (value) => {
  const theirs = /** @type {any[]} */ ([Array, Object, String]).map(({ prototype }) => [prototype, Object.getOwnPropertyDescriptor(prototype, 'toJSON')])
    .filter(([, own]) => own?.configurable);
  for (const [prototype] of theirs) delete prototype.toJSON;
  try {
    return JSON.stringify(value);
  } finally {
    for (const [prototype, own] of theirs) Object.defineProperty(prototype, 'toJSON', own);
  }
};

const POINTER_EVENTS = new Set([
  'click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'dblclick', 'contextmenu',
  'touchstart', 'touchend', 'dragstart', 'dragover', 'drop',
]);
const HOVER_EVENTS = new Set(['mouseenter', 'mouseover', 'pointerenter', 'pointerover']);
const WHEEL_EVENTS = new Set(['wheel', 'mousewheel', 'DOMMouseScroll']);
const HANDLERS = ['onclick', 'onmousedown', 'onpointerdown', 'ondrop'];

const pointerListeners = new WeakMap(); // target -> Map(type -> Set(listener))
const hoverListeners = new WeakSet();
const wheelListeners = new WeakSet();
const everListened = new Set(); // WeakRefs to elements that have, or had, a pointer listener or handler
const internals = new WeakMap(); // custom element -> ElementInternals
const boundFrom = new WeakMap(); // bound function -> the original function, whose source can be read

const shadowOf = (element) => element.shadowRoot ?? internals.get(element)?.shadowRoot ?? adopted.get(element) ?? null;

const listenerAdded = (target, type, listener) => {
  if (HOVER_EVENTS.has(type) && target instanceof Element) hoverListeners.add(target);
  if (WHEEL_EVENTS.has(type) && target instanceof Element) wheelListeners.add(target);
  if (!POINTER_EVENTS.has(type) || !listener) return;
  let types = pointerListeners.get(target);
  if (!types) {
    pointerListeners.set(target, (types = new Map()));
    if (target instanceof Element || target instanceof ShadowRoot) everListened.add(new WeakRef(target));
  }
  if (!types.has(type)) types.set(type, new Set());
  types.get(type).add(listener);
};

const listenerRemoved = (target, type, listener) => {
  const types = pointerListeners.get(target);
  types?.get(type)?.delete(listener);
  if (types?.get(type)?.size === 0) types.delete(type);
};

// Replaces a native function. A Proxy keeps its name, length and toString.
const around = (owner, name, apply) => {
  const native = owner?.[name];
  if (typeof native === 'function') owner[name] = new Proxy(native, { apply });
};

const hookListeners = () => {
  around(EventTarget.prototype, 'addEventListener', (native, self, args) => {
    listenerAdded(self ?? globalThis, args[0], args[1]);
    return Reflect.apply(native, self, args);
  });
  around(EventTarget.prototype, 'removeEventListener', (native, self, args) => {
    listenerRemoved(self ?? globalThis, args[0], args[1]);
    return Reflect.apply(native, self, args);
  });
  around(Function.prototype, 'bind', (native, self, args) => {
    const bound = Reflect.apply(native, self, args);
    boundFrom.set(bound, boundFrom.get(self) ?? self);
    return bound;
  });
  // A handler set as a property (`list.onclick = …`) may also be a delegated one.
  for (const name of HANDLERS) {
    const native = Object.getOwnPropertyDescriptor(HTMLElement.prototype, name);
    if (!native?.set) continue;
    Object.defineProperty(HTMLElement.prototype, name, {
      ...native,
      set: new Proxy(native.set, {
        apply: (set, self, args) => {
          if (args[0] && self instanceof Element) everListened.add(new WeakRef(self));
          return Reflect.apply(set, self, args);
        },
      }),
    });
  }
};

const hookShadowRoots = () => {
  around(Element.prototype, 'attachShadow', (native, self, args) => {
    const root = Reflect.apply(native, self, args);
    if (root.mode === 'closed') adopt(self, root);
    return root;
  });
  around(HTMLElement.prototype, 'attachInternals', (native, self, args) => {
    const found = Reflect.apply(native, self, args);
    internals.set(self, found);
    return found;
  });
};

// Closed roots that no hook saw: declared in the HTML, or created before we attached. `suspects` returns elements
// that may have one, and Python passes their roots to `adopt` through DevTools.
const HOST_TAGS = /^(?:ARTICLE|ASIDE|BLOCKQUOTE|DIV|FOOTER|H[1-6]|HEADER|MAIN|NAV|P|SECTION|SPAN|.+-.*)$/;
const MAX_SUSPECTS = 60, MAX_ELEMENTS_SUSPECTED = 5000;
const MIN_TEXT_HEIGHT_PX = 8; // an "empty" element of this height shows something
const adopted = new WeakMap(); // host -> its root
const askedFor = new WeakSet();
let suspected = [];

// Records a custom element, or an empty element that nevertheless has a height.
const suspect = (element, style) => {
  if (suspected.length >= MAX_SUSPECTS || !HOST_TAGS.test(element.tagName) || askedFor.has(element) || shadowOf(element)) return;
  if (!element.tagName.includes('-')) {
    if (element.firstChild || style.display === 'none') return;
    const height = style.display === 'inline' ? element.getBoundingClientRect().height : element.clientHeight;
    if (height < MIN_TEXT_HEIGHT_PX || element.computedStyleMap?.().get('height')?.value !== 'auto') return; // the map is slow
    if (style.display !== 'inline' && height - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom) < MIN_TEXT_HEIGHT_PX) return;
  }
  suspected.push(element);
};

// The suspects found by the last walk; with `everywhere`, those in the entire document, without a walk.
const suspects = (everywhere = false) => {
  if (everywhere) for (const element of [...document.querySelectorAll('*')].slice(0, MAX_ELEMENTS_SUSPECTED)) suspect(element, getComputedStyle(element));
  const handed = suspected;
  suspected = [];
  handed.forEach((element) => askedFor.add(element));
  return handed;
};
const adopt = (host, root) => { adopted.set(host, root); };
