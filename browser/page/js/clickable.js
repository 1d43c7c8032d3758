// Decides which elements react to a click or the pointer: native controls, roles, listeners, frameworks' own event
// handling, and delegated listeners on ancestors.
const PRESSES = /^(click|dblclick|mousedown|mouseup|pointerdown|pointerup)$/;

// React keeps props on each node, under a generated key.
const MAX_ELEMENTS_PROBED = 300; // elements searched for the key; each copy of React has its own key
const REACT_PROPS = /^__react(Props|EventHandlers)\$/;
const REACT_ROOT = '__reactContainer$';
let reactKeys = [];
const findReact = () => {
  const found = new Set();
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(), seen = 0; node && seen < MAX_ELEMENTS_PROBED; node = walker.nextNode(), seen += 1) {
    for (const key of Object.keys(node)) {
      if (REACT_PROPS.test(key)) found.add(key);
      else if (key.startsWith(REACT_ROOT)) found.add(key.replace('Container', 'Props'));
    }
  }
  reactKeys = [...found];
};
const reactHandlers = (element) => reactKeys.flatMap((key) =>
  Object.entries(element[key] ?? {}).filter(([, value]) => typeof value === 'function').map(([name]) => name));
const reactClick = (element) => reactHandlers(element).some((name) =>
  PRESSES.test(name.replace(/^on/, '').replace(/Capture$/, '').toLowerCase().replace('doubleclick', 'dblclick')));

// Svelte 5 and Solid keep delegated handlers on the element itself; newer Svelte uses a symbol.
const svelteClick = (element) => !!element.__click || Object.getOwnPropertySymbols(element).some((symbol) =>
  symbol.description === 'events' && Object.keys(element[symbol] ?? {}).some((type) => PRESSES.test(type)));
const frameworkClick = (element) => reactClick(element) || svelteClick(element) || !!element.$$click;

// Frameworks that name the action in an attribute, which a single listener at the root reads.
const PRESS_ATTRIBUTES = [
  '[hx-get],[hx-post],[hx-put],[hx-patch],[hx-delete]', '[data-action*="click->"],[data-action*="click@"]',
  '[\\@click],[x-on\\:click],[v-on\\:click],[wire\\:click],[phx-click],[ng-click],[data-ng-click]',
  '[data-bind*="click:"],[jsaction^="click:"],[jsaction*=";click:"],[jsaction*=" click:"],[data-ember-action]',
  '[data-toggle]:not([data-toggle=tooltip]),[data-bs-toggle]:not([data-bs-toggle=tooltip]),[data-dismiss],[data-bs-dismiss],[data-bs-slide],[data-bs-slide-to]',
].join();
const hasPressAttribute = (element) => element.attributes.length > Number(element.hasAttribute('class')) && element.matches(PRESS_ATTRIBUTES) && !/^(FORM|BODY|HTML|INPUT|SELECT)$/.test(element.tagName);

// jQuery keeps delegated handlers' selectors in the element's data; a bundled copy is not on the window.
const jqueryHandlers = (target) => {
  const key = Object.keys(target).find((name) => /^jQuery\d+$/.test(name) && target[name]?.events);
  const events = globalThis.jQuery?._data?.(target, 'events') ?? (key ? target[key].events : {});
  return Object.keys(events).filter((type) => PRESSES.test(type)).flatMap((type) => [...events[type]]);
};

const pressListeners = (target) => [...(pointerListeners.get(target) ?? [])]
  .flatMap(([type, set]) => (/click|down|up|menu|drop|dragover/.test(type) ? [...set] : []));

// A framework's root listens for the elements inside it, never for itself.
const isFrameworkRoot = (element, listeners) => {
  if (Object.keys(element).some((key) => key.startsWith(REACT_ROOT))) return true;
  const handlers = jqueryHandlers(element);
  if (handlers.length && listeners.length === 1) return handlers.every((handler) => handler.selector);
  const atDocument = [...(pointerListeners.get(document)?.values() ?? [])];
  return listeners.length > 0 && listeners.every((listener) => atDocument.some((set) => set.has(listener)));
};

// The checks that a delegated listener's source code makes on its target, converted to selectors for the intended elements.
/** @type {[RegExp, (name: string) => string][]} */
const DELEGATION_PATTERNS = [
  [/(?:closest|matches|is|find)\(\s*['"`]([^'"`\n]{1,80})['"`]/g, (m) => m],
  [/classList\.contains\(\s*['"`]([\w-]{1,60})['"`]/g, (m) => '.' + CSS.escape(m)],
  [/(?:tagName|nodeName|localName)[\w.()]*\s*[!=]==?\s*['"`]([A-Za-z][\w-]{0,20})['"`]/g, (m) => m.toLowerCase()],
  [/className\s*[!=]==?\s*['"`]([\w-]{1,60})['"`]/g, (m) => '.' + CSS.escape(m)],
  [/target\.id\s*[!=]==?\s*['"`]([\w-]{1,60})['"`]/g, (m) => '#' + CSS.escape(m)],
  [/(?:has|get)Attribute\(\s*['"`]([\w-]{1,60})['"`]/g, (m) => `[${CSS.escape(m)}]`],
  [/(?:target|srcElement)\)?\??\.(title|alt|name|value)\b/g, (m) => `[${m}]`],
  [/dataset\??\.(\w{1,40})/g, (m) => `[data-${m.replace(/[A-Z]/g, (c) => '-' + c.toLowerCase())}]`],
];
// `const name = event.target.className`, then `name === 'plus'` or a switch on it.
/** @type {[RegExp, (name: string) => string][]} */
const TARGET_PROPERTY_PATTERNS = [
  [/(?:target|srcElement)\)?\??\.(?:className|classList)\b/, (m) => '.' + CSS.escape(m)],
  [/(?:target|srcElement)\)?\??\.id\b/, (m) => '#' + CSS.escape(m)],
];
const COMPARED_VALUE = /(?:[!=]==?\s*|\bcase\s+)['"`]([\w-]{1,40})['"`]/g;
// A selector in a variable is looked up in the page's inline scripts: `NAME = '…'`, or after the event type in a call
// to a helper: `on(root, 'click', '…', …)`.
const NAMED_SELECTOR = /(?:closest|matches)\(\s*([A-Za-z_$][\w$]*)\s*\)/g;
const HELPER_CALL = /['"`](?:click|mousedown|pointerdown)['"`]\s*,\s*['"`]([^'"`\n]{1,80})['"`]/g;
const MAX_SOURCE_CHARS = 6000, MAX_SCRIPTS_CHARS = 300000;

const sourcesOf = (target) => {
  const handlers = [target.onclick, target.onmousedown, target.onpointerdown].filter((handler) => typeof handler === 'function');
  const byJquery = jqueryHandlers(target).filter(({ selector }) => !selector).map(({ handler }) => handler);
  return [...pressListeners(target), ...handlers, ...byJquery].map((listener) => {
    const bound = typeof listener === 'function' ? listener : listener?.handleEvent;
    const call = boundFrom.get(bound) ?? bound;
    return typeof call === 'function' ? Function.prototype.toString.call(call).slice(0, MAX_SOURCE_CHARS) : '';
  });
};

const namedSelectors = (source) => {
  const names = new Set([...source.matchAll(NAMED_SELECTOR)].map((match) => match[1]));
  if (!names.size) return [];
  const scripts = [...document.scripts].filter((script) => !script.src).map((script) => script.text).join('\n').slice(0, MAX_SCRIPTS_CHARS);
  const assignments = [...names].map((name) => new RegExp(`(?<![\\w$])${name.replace(/\$/g, '\\$')}\\s*[:=]\\s*['"\`]([^'"\`\\n]{1,80})['"\`]`, 'g'));
  return [HELPER_CALL, ...assignments].flatMap((pattern) => [...scripts.matchAll(pattern)].map((match) => match[1]));
};

const selectorsOf = (target, sources) => {
  const found = new Set(jqueryHandlers(target).map((handler) => handler.selector).filter(Boolean));
  if (target.classList?.contains('ui-sortable')) found.add('.ui-sortable-handle'); // jQuery UI marks the elements that it moves
  for (const source of sources) {
    const compared = TARGET_PROPERTY_PATTERNS.filter(([asked]) => asked.test(source)).map(([, toSelector]) => [COMPARED_VALUE, toSelector]);
    for (const [pattern, toSelector] of /** @type {any[]} */ ([...DELEGATION_PATTERNS, ...compared])) {
      for (const match of source.matchAll(pattern)) found.add(toSelector(match[1]));
    }
    for (const selector of namedSelectors(source)) found.add(selector);
  }
  return [...found].filter((selector) => !/^(html|body|document|a|\*)$/i.test(selector));
};

// A list or table with a delegated listener for its items is not a target itself.
const LISTS = /^(TABLE|THEAD|TBODY|UL|OL|DL)$/;
let lists = new Set();
// A listener that compares the target's text is meant for elements with their own text.
const COMPARES_TEXT = /\b(?:textContent|innerText)[\w.()]*\s*[!=]==?|[!=]==?\s*[\w.]*\b(?:textContent|innerText)\b/;
// A comparison of the target with the listener's own element: a press outside a dialog's content closes the dialog.
const COMPARES_OWNER = /\w+\.target\s*[!=]==?\s*(?:this|\w+\.currentTarget)(?![\w.$[(])|(?:\bthis|\w+\.currentTarget)\s*[!=]==?\s*\w+\.target\b(?!\s*[.[(])/g;
// A listener at the root that looks up its target in its own data: its source does not show the intended elements.
const LOOKS_UP_TARGET = /\((?:\w+\.)?(?:target|composedPath\(\))|\[(?:\w+\.)?target/;

// The elements that delegated listeners on their ancestors are meant for.
const delegatedTargets = () => {
  const targets = new WeakSet();
  lists = new Set();
  const known = [...everListened].map((ref) => ref.deref()).filter((element) => element?.isConnected);
  const owners = new Set([document, globalThis, ...known, ...document.querySelectorAll('[onclick],[onmousedown]')]);
  for (const owner of owners) {
    if (!pointerListeners.get(owner)?.size && !owner.onclick && !owner.onmousedown && !owner.onpointerdown) continue;
    const sources = sourcesOf(owner), selectors = selectorsOf(owner, sources);
    for (const selector of selectors) {
      for (const element of matchAll(owner === globalThis ? document : owner, selector)) targets.add(element);
    }
    if (selectors.length && LISTS.test(owner.tagName)) lists.add(owner);
    if (isRoot(owner)) {
      if (!selectors.length && sources.some((source) => LOOKS_UP_TARGET.test(source))) addButtonLike(targets);
    } else if ((!selectors.length || sources.some((source) => COMPARES_TEXT.test(source))) && !isFrameworkRoot(owner, pressListeners(owner))) {
      if (sources.some((source) => /(?<!current)target\b/i.test(source.replace(COMPARES_OWNER, '')))) addLeaves(owner, targets);
    }
  }
  return targets;
};

const MAX_LEAVES = 400;
const addLeaves = (owner, targets) => {
  const leaves = [...owner.querySelectorAll('*')].filter((e) => !e.firstElementChild);
  if (leaves.length <= MAX_LEAVES) leaves.forEach((leaf) => targets.add(leaf));
};

// Elements that look like a button: a few words with their own border or background.
const MAX_BUTTON_CHARS = 24;
const addButtonLike = (targets) => {
  const leaves = [...document.querySelectorAll('span,div,i,b,em,strong,img,svg')].filter((e) => !e.firstElementChild && !e.closest('a,button,label,svg svg'));
  if (leaves.length > MAX_LEAVES) return;
  for (const leaf of leaves) {
    const text = squash(leaf.textContent), style = getComputedStyle(leaf);
    const framed = style.borderTopStyle !== 'none' && parseFloat(style.borderTopWidth) > 0;
    const own = framed || style.backgroundImage !== 'none' || parseColour(style.backgroundColor)?.[3] > 0.2;
    if (own && text.length > 0 && text.length <= MAX_BUTTON_CHARS) targets.add(leaf);
  }
};

const listensItself = (element) => {
  const listens = !!pointerListeners.get(element)?.size || !!element.onclick;
  if (listens && isFrameworkRoot(element, pressListeners(element))) return frameworkClick(element);
  return listens || !!element.onmousedown || !!element.onmouseup || !!element.onpointerdown || !!element.ondblclick || !!element.ondrop || frameworkClick(element);
};

// A label that draws its hidden control, and is clicked instead of it.
const drawsItsControl = (label) => {
  const control = label.control;
  if (!control || !/^(checkbox|radio|file)$/.test(control.type ?? '') || drawnByItsParent(control)) return false;
  const { width, height } = control.getBoundingClientRect(), style = getComputedStyle(control);
  return width < 2 || height < 2 || style.opacity === '0' || style.visibility === 'hidden' || style.display === 'none';
};

// A label for a visible control: the control is clicked instead.
const labelsVisibleControl = (label) => {
  const named = label.control ?? (label.id ? label.getRootNode().querySelector(`[aria-labelledby~="${CSS.escape(label.id)}"]`) : null);
  return !!named && (sizeable(named) || drawnByItsParent(named));
};

const PRESSED_WHOLE = 'button,a[href],[role=button],[role=link],[role=tab],[role=menuitem],[role=combobox]';

// Why an element can be acted on: 'widget', 'listener', 'pointer', or ''.
const actionable = (element, role, style, cursor, parentCursor, delegated) => {
  if (WIDGETS.has(role)) return 'widget';
  if (element.tagName === 'LABEL') return drawsItsControl(element) || (listensItself(element) && !labelsVisibleControl(element)) ? 'listener' : '';
  if (isRoot(element) || lists.has(element)) return '';
  if (element instanceof SVGElement && element.closest(PRESSED_WHOLE)) return ''; // a button's icon
  const draggable = element.draggable && element.tagName !== 'IMG' && element.tagName !== 'A';
  const focusable = element.tabIndex >= 0 && element.hasAttribute('tabindex');
  if (draggable || focusable || delegated.has(element) || hasPressAttribute(element) || listensItself(element)) return 'listener';
  return cursor === 'pointer' && parentCursor !== 'pointer' && style.pointerEvents !== 'none' ? 'pointer' : '';
};

// Elements with content that a style rule shows only on :hover (a submenu, a row's buttons): the pointer must be moved
// there, although nothing listens.
const MAX_HOVER_OWNERS = 300;
const hoverRules = new WeakMap(); // sheet -> { length, found: [[owner, what it shows]] }

const hoverRulesIn = (rules, found) => {
  for (const rule of rules) {
    const shows = rule.selectorText?.includes(':hover') && ((rule.style.display && rule.style.display !== 'none') || rule.style.visibility === 'visible');
    for (const selector of shows ? rule.selectorText.split(',') : []) {
      const [, owner, shown] = /^(.*?):hover\b(?!\))(\s*[\s>].+)$/.exec(selector.trim()) ?? [];
      if (shown) found.push([owner || '*', ':scope ' + shown.trim()]);
    }
    if (rule.cssRules?.length) hoverRulesIn(rule.cssRules, found);
  }
  return found;
};

const hoverRulesOf = (sheet) => {
  try {
    const length = sheet.cssRules.length;
    if (hoverRules.get(sheet)?.length !== length) hoverRules.set(sheet, { length, found: hoverRulesIn(sheet.cssRules, []) });
    return hoverRules.get(sheet).found;
  } catch {
    return []; // the rules of a sheet from another origin cannot be read
  }
};

const isHiddenByStyle = (element) => {
  const style = getComputedStyle(element);
  return style.display === 'none' || style.visibility === 'hidden';
};

const hoverOwners = () => {
  const owners = new Set();
  const roots = [...everListened].map((ref) => ref.deref()).filter((node) => node?.isConnected).map((node) => node.getRootNode());
  for (const scope of new Set([document, ...roots])) {
    for (const [owner, shown] of [...scope.styleSheets, ...scope.adoptedStyleSheets].flatMap(hoverRulesOf)) {
      for (const element of [...matchAll(scope, owner)].slice(0, MAX_HOVER_OWNERS)) {
        if (owners.size >= MAX_HOVER_OWNERS) return owners;
        const inner = [...matchAll(element, shown)];
        if (inner.length && (element.matches(':hover') || inner.some(isHiddenByStyle))) owners.add(element);
      }
    }
  }
  return owners;
};

// Elements that listen for hovering and have something to show: hidden content, or a few words of their own, like
// those with a tooltip.
const MAX_HOVERED_CHARS = 40, MAX_HOVERED_DESCENDANTS = 60;
const hoverable = (element) => {
  if (isRoot(element) || /^T[DHR]$/.test(element.tagName)) return false; // tables highlight their cells
  const listens = (hoverListeners.has(element) && !isFrameworkRoot(element, [])) || !!element.onmouseenter || !!element.onmouseover
    || reactHandlers(element).some((name) => /^on(Mouse|Pointer)(Enter|Over)$/.test(name));
  if (!listens) return false;
  if ([...element.querySelectorAll('*')].slice(0, MAX_HOVERED_DESCENDANTS).some(isHiddenByStyle)) return true;
  return !element.querySelector('a[href],button,input,select,textarea') && shortText(element, MAX_HOVERED_CHARS + 1).length <= MAX_HOVERED_CHARS;
};
