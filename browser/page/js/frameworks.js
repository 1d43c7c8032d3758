// Where frameworks keep the handlers that one listener further up calls for them.
const PRESSES = /^(click|dblclick|mousedown|mouseup|pointerdown|pointerup)$/;
const KEY_PROBES = 300; // elements looked at for React's private key; each copy of React has one

// React: the props stand on each node, under a key of its own.
let reactKeys = [];
const REACT_PROPS = /^__react(Props|EventHandlers)\$/;
const findReact = () => {
  const found = new Set();
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(), seen = 0; node && seen < KEY_PROBES; node = walker.nextNode(), seen += 1) {
    for (const key of Object.keys(node)) {
      if (REACT_PROPS.test(key)) found.add(key);
      else if (key.startsWith('__reactContainer$')) found.add(key.replace('Container', 'Props'));
    }
  }
  reactKeys = [...found];
};
const reactProps = (element) => reactKeys.flatMap((key) =>
  Object.entries(element[key] ?? {}).filter(([, given]) => typeof given === 'function').map(([name]) => name));
const reactClick = (element) => reactProps(element).some((name) =>
  PRESSES.test(name.replace(/^on/, '').replace(/Capture$/, '').toLowerCase().replace('doubleclick', 'dblclick')));

// Svelte 5 and Solid keep delegated handlers on the element itself, newer Svelte under a symbol.
const svelteClick = (element) => !!element.__click || Object.getOwnPropertySymbols(element).some((symbol) =>
  symbol.description === 'events' && Object.keys(element[symbol] ?? {}).some((type) => PRESSES.test(type)));
const frameworkClick = (element) => reactClick(element) || svelteClick(element) || !!element.$$click;

// What is pressed is named in an attribute, and one listener at the root reads it.
const PRESS_ATTRIBUTES = [
  '[hx-get],[hx-post],[hx-put],[hx-patch],[hx-delete]', '[data-action*="click->"],[data-action*="click@"]',
  '[\\@click],[x-on\\:click],[v-on\\:click],[wire\\:click],[phx-click],[ng-click],[data-ng-click]',
  '[data-bind*="click:"],[jsaction^="click:"],[jsaction*=";click:"],[jsaction*=" click:"],[data-ember-action]',
  '[data-toggle]:not([data-toggle=tooltip]),[data-bs-toggle]:not([data-bs-toggle=tooltip]),[data-dismiss],[data-bs-dismiss],[data-bs-slide],[data-bs-slide-to]',
].join();
const pressAttribute = (element) => element.matches(PRESS_ATTRIBUTES) && !/^(FORM|BODY|HTML|INPUT|SELECT)$/.test(element.tagName);

// jQuery keeps selectors beside the element; a bundled copy is not on the window, its data is.
const jqueryHandlers = (target) => {
  const key = Object.keys(target).find((name) => /^jQuery\d+$/.test(name) && target[name]?.events);
  const events = globalThis.jQuery?._data?.(target, 'events') ?? (key ? target[key].events : {});
  return Object.keys(events).filter((type) => PRESSES.test(type)).flatMap((type) => [...events[type]]);
};
const jquerySelectors = (target) => jqueryHandlers(target).map((handler) => handler.selector).filter(Boolean);

// The root that a framework listens at acts for what is inside it, never for itself.
const frameworkRoot = (element, listeners) => {
  if (Object.keys(element).some((key) => key.startsWith('__reactContainer$'))) return true;
  const handlers = jqueryHandlers(element);
  if (handlers.length && listeners.length === 1) return handlers.every((handler) => handler.selector);
  return listeners.length > 0 && listeners.every((listener) => listensAtDocument(listener));
};
const listensAtDocument = (listener) => [...(heard.get(document)?.values() ?? [])].some((set) => set.has(listener));
