// Which elements a click does something to: native controls, roles, listeners, and delegation.
const DELEGATION_PATTERNS = [
  [/(?:closest|matches|is|find)\(\s*['"`]([^'"`\n]{1,80})['"`]/g, (m) => m],
  [/classList\.contains\(\s*['"`]([\w-]{1,60})['"`]/g, (m) => '.' + CSS.escape(m)],
  [/(?:tagName|nodeName|localName)[\w.()]*\s*[!=]==?\s*['"`]([A-Za-z][\w-]{0,20})['"`]/g, (m) => m.toLowerCase()],
  [/className\s*[!=]==?\s*['"`]([\w-]{1,60})['"`]/g, (m) => '.' + CSS.escape(m)],
  [/target\.id\s*[!=]==?\s*['"`]([\w-]{1,60})['"`]/g, (m) => '#' + CSS.escape(m)],
  [/(?:has|get)Attribute\(\s*['"`]([\w-]{1,60})['"`]/g, (m) => `[${CSS.escape(m)}]`],
  [/dataset\.(\w{1,40})/g, (m) => `[data-${m.replace(/[A-Z]/g, (c) => '-' + c.toLowerCase())}]`],
];
const SOURCE_LIMIT = 6000;
const LEAVES_LIMIT = 400;
const isRoot = (target) => target === document || target === globalThis ||
  target === document.body || target === document.documentElement;

const sourcesOf = (target) => {
  const listeners = [];
  for (const [type, set] of heard.get(target) ?? []) {
    if (/click|down|up/.test(type)) listeners.push(...set);
  }
  for (const handler of [target.onclick, target.onmousedown, target.onpointerdown]) {
    if (typeof handler === 'function') listeners.push(handler);
  }
  return listeners.map((listener) => {
    const call = typeof listener === 'function' ? listener : listener?.handleEvent;
    return typeof call === 'function' ? Function.prototype.toString.call(call).slice(0, SOURCE_LIMIT) : '';
  });
};

const jquerySelectors = (target) => {
  const events = globalThis.jQuery?._data?.(target, 'events') ?? {};
  return ['click', 'mousedown', 'mouseup', 'dblclick'].flatMap((type) =>
    [...(events[type] ?? [])].map((handler) => handler.selector).filter(Boolean));
};

const selectorsOf = (target) => {
  const found = new Set(jquerySelectors(target));
  for (const source of sourcesOf(target)) {
    for (const [pattern, toSelector] of DELEGATION_PATTERNS) {
      for (const match of source.matchAll(pattern)) found.add(toSelector(match[1]));
    }
  }
  return [...found];
};

const matchAll = (scope, selector) => {
  try {
    return scope.querySelectorAll(selector);
  } catch {
    return []; // a string that is no selector: a handler may compare with anything
  }
};

// Elements that a listener further up acts for, read from the listener's own source.
const delegatedTargets = () => {
  const targets = new WeakSet();
  const known = [...listening].map((ref) => ref.deref()).filter((element) => element?.isConnected);
  const owners = new Set([document, globalThis, ...known, ...document.querySelectorAll('[onclick],[onmousedown]')]);
  for (const owner of owners) {
    if (!heard.get(owner)?.size && !owner.onclick && !owner.onmousedown && !owner.onpointerdown) continue;
    const scope = owner === globalThis ? document : owner;
    const selectors = selectorsOf(owner).filter((selector) => !/^(html|body|document|a|\*)$/i.test(selector));
    for (const selector of selectors) {
      for (const element of matchAll(scope, selector)) targets.add(element);
    }
    if (!selectors.length && !isRoot(owner)) addLeaves(owner, targets);
  }
  return targets;
};

const addLeaves = (owner, targets) => {
  if (!sourcesOf(owner).some((source) => /(?<!current)target\b/i.test(source))) return;
  const leaves = [...owner.querySelectorAll('*')].filter((e) => !e.firstElementChild);
  if (leaves.length <= LEAVES_LIMIT) leaves.forEach((leaf) => targets.add(leaf));
};

let reactKey = null;
const reactClick = (element) => {
  if (reactKey === null) return false;
  const props = element[reactKey];
  return !!props && (typeof props.onClick === 'function' || typeof props.onMouseDown === 'function' || typeof props.onPointerDown === 'function');
};
const findReact = () => {
  const probe = document.querySelector('#root *, #app *, #__next *, [data-reactroot], body > div *');
  reactKey = probe ? Object.keys(probe).find((key) => key.startsWith('__reactProps$')) ?? null : null;
};
// Svelte 5 and Solid keep delegated handlers on the element itself.
const frameworkClick = (element) => reactClick(element) || !!element.__click || !!element.$$click;

const LABELLED_HIDDEN = (label) => {
  const control = label.control;
  if (!control || !/^(checkbox|radio|file)$/.test(control.type ?? '')) return false;
  const box = control.getBoundingClientRect();
  const style = getComputedStyle(control);
  return box.width < 2 || box.height < 2 || style.opacity === '0' || style.visibility === 'hidden' || style.display === 'none';
};

const listensItself = (element) => {
  const types = heard.get(element);
  return (!!types && types.size > 0) || !!element.onclick || !!element.onmousedown || !!element.onmouseup
    || !!element.onpointerdown || !!element.ondblclick || frameworkClick(element);
};

// '' or why the element can be acted on: 'widget', 'listener', 'pointer'.
const actionable = (element, role, style, parentCursor, delegated) => {
  if (WIDGETS.has(role)) return 'widget';
  if (element.tagName === 'LABEL') return LABELLED_HIDDEN(element) || listensItself(element) ? 'listener' : '';
  if (isRoot(element)) return '';
  if (listensItself(element) || delegated.has(element)) return 'listener';
  if (element.draggable && element.tagName !== 'IMG' && element.tagName !== 'A') return 'listener';
  if (element.tabIndex >= 0 && element.hasAttribute('tabindex')) return 'listener';
  if (style.cursor === 'pointer' && parentCursor !== 'pointer') return 'pointer';
  return '';
};
