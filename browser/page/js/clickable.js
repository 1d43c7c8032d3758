// Which elements a click does something to: native controls, roles, listeners, and delegation.
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
// `const name = event.target.className` and then `name === 'plus'`, or a switch over it.
/** @type {[RegExp, (name: string) => string][]} */
const ASKED_OF = [
  [/(?:target|srcElement)\)?\??\.(?:className|classList)\b/, (m) => '.' + CSS.escape(m)],
  [/(?:target|srcElement)\)?\??\.id\b/, (m) => '#' + CSS.escape(m)],
];
const COMPARED = /(?:[!=]==?\s*|\bcase\s+)['"`]([\w-]{1,40})['"`]/g;
const SOURCE_LIMIT = 6000;
const LEAVES_LIMIT = 400;
const isRoot = (target) => target === document || target === globalThis ||
  target === document.body || target === document.documentElement;

const pressListeners = (target) => [...(heard.get(target) ?? [])]
  .flatMap(([type, set]) => (/click|down|up|menu|drop|dragover/.test(type) ? [...set] : []));

const sourcesOf = (target) => {
  const handlers = [target.onclick, target.onmousedown, target.onpointerdown].filter((handler) => typeof handler === 'function');
  return [...pressListeners(target), ...handlers].map((listener) => {
    const given = typeof listener === 'function' ? listener : listener?.handleEvent;
    const call = boundFrom.get(given) ?? given;
    return typeof call === 'function' ? Function.prototype.toString.call(call).slice(0, SOURCE_LIMIT) : '';
  });
};

// A selector that the listener knows by a name stands in the page's own scripts: `NAME = '…'`, or
// after the event's type in a call of a helper: `on(root, 'click', '…', …)`.
const NAMED_SELECTOR = /(?:closest|matches)\(\s*([A-Za-z_$][\w$]*)\s*\)/g;
const HELPER_CALL = /['"`](?:click|mousedown|pointerdown)['"`]\s*,\s*['"`]([^'"`\n]{1,80})['"`]/g;
const SCRIPTS_LIMIT = 300000;
const namedSelectors = (source) => {
  const names = [...source.matchAll(NAMED_SELECTOR)].map((match) => match[1]);
  if (!names.length) return [];
  const scripts = [...document.scripts].filter((script) => !script.src).map((script) => script.text).join('\n').slice(0, SCRIPTS_LIMIT);
  const found = [...scripts.matchAll(HELPER_CALL)].map((match) => match[1]);
  for (const name of new Set(names)) {
    const given = new RegExp(`(?<![\\w$])${name.replace(/\$/g, '\\$')}\\s*[:=]\\s*['"\`]([^'"\`\\n]{1,80})['"\`]`, 'g');
    found.push(...[...scripts.matchAll(given)].map((match) => match[1]));
  }
  return found;
};

const selectorsOf = (target) => {
  const found = new Set(jquerySelectors(target));
  for (const source of sourcesOf(target)) {
    for (const [pattern, toSelector] of DELEGATION_PATTERNS) {
      for (const match of source.matchAll(pattern)) found.add(toSelector(match[1]));
    }
    for (const selector of namedSelectors(source)) found.add(selector);
    for (const [asked, toSelector] of ASKED_OF) {
      if (asked.test(source)) for (const match of source.matchAll(COMPARED)) found.add(toSelector(match[1]));
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

// A list or table whose listener asks which item was meant is no target itself.
const LISTS = /^(TABLE|THEAD|TBODY|UL|OL|DL)$/;
let lists = new Set();

// Elements that a listener further up acts for, read from the listener's own source.
const delegatedTargets = () => {
  const targets = new WeakSet();
  lists = new Set();
  const known = [...listening].map((ref) => ref.deref()).filter((element) => element?.isConnected);
  const owners = new Set([document, globalThis, ...known, ...document.querySelectorAll('[onclick],[onmousedown]')]);
  for (const owner of owners) {
    if (!heard.get(owner)?.size && !owner.onclick && !owner.onmousedown && !owner.onpointerdown) continue;
    const scope = owner === globalThis ? document : owner;
    const selectors = selectorsOf(owner).filter((selector) => !/^(html|body|document|a|\*)$/i.test(selector));
    for (const selector of selectors) {
      for (const element of matchAll(scope, selector)) targets.add(element);
    }
    if (selectors.length && LISTS.test(owner.tagName)) lists.add(owner);
    if (!selectors.length && isRoot(owner) && sourcesOf(owner).some((source) => ASKS_BLINDLY.test(source))) addButtonLike(targets);
    if (!isRoot(owner) && (!selectors.length || sourcesOf(owner).some((source) => ASKS_WORDS.test(source))) && !frameworkRoot(owner, pressListeners(owner))) addLeaves(owner, targets);
  }
  return targets;
};

// Who compares the words of what was pressed means what has words of its own.
const ASKS_WORDS = /\b(?:textContent|innerText)[\w.()]*\s*[!=]==?|[!=]==?\s*[\w.]*\b(?:textContent|innerText)\b/;

// A listener at the root that looks up what was pressed in a table of its own says nothing of it. Then
// what looks like a button counts as one: a few words with a frame or a ground of their own.
const ASKS_BLINDLY = /\((?:\w+\.)?(?:target|composedPath\(\))|\[(?:\w+\.)?target/;
const BUTTON_WORDS = 24;
const addButtonLike = (targets) => {
  const leaves = [...document.querySelectorAll('span,div,i,b,em,strong,img,svg')].filter((e) => !e.firstElementChild && !e.closest('a,button,label,svg svg'));
  if (leaves.length > LEAVES_LIMIT) return;
  for (const leaf of leaves) {
    const text = squash(leaf.textContent);
    const style = getComputedStyle(leaf);
    const ground = parseColour(style.backgroundColor);
    const own = (ground && ground[3] > 0.2) || (style.borderTopStyle !== 'none' && parseFloat(style.borderTopWidth) > 0) || style.backgroundImage !== 'none';
    if (own && text.length > 0 && text.length <= BUTTON_WORDS) targets.add(leaf);
  }
};

const addLeaves = (owner, targets) => {
  if (!sourcesOf(owner).some((source) => /(?<!current)target\b/i.test(source))) return;
  const leaves = [...owner.querySelectorAll('*')].filter((e) => !e.firstElementChild);
  if (leaves.length <= LEAVES_LIMIT) leaves.forEach((leaf) => targets.add(leaf));
};

const LABELLED_HIDDEN = (label) => {
  const control = label.control;
  if (!control || !/^(checkbox|radio|file)$/.test(control.type ?? '') || drawnByItsParent(control)) return false;
  const box = control.getBoundingClientRect();
  const style = getComputedStyle(control);
  return box.width < 2 || box.height < 2 || style.opacity === '0' || style.visibility === 'hidden' || style.display === 'none';
};

const listensItself = (element) => {
  const types = heard.get(element);
  if ((types?.size || element.onclick) && frameworkRoot(element, pressListeners(element))) return frameworkClick(element);
  return !!types?.size || !!element.onclick || !!element.onmousedown || !!element.onmouseup
    || !!element.onpointerdown || !!element.ondblclick || !!element.ondrop || frameworkClick(element);
};

// A label whose control is shown itself is pressed through that.
const namesAnother = (label) => {
  const named = label.control ?? (label.id ? label.getRootNode().querySelector(`[aria-labelledby~="${CSS.escape(label.id)}"]`) : null);
  return !!named && (sizeable(named) || drawnByItsParent(named));
};

// '' or why the element can be acted on: 'widget', 'listener', 'pointer'.
const actionable = (element, role, style, parentCursor, delegated) => {
  if (WIDGETS.has(role)) return 'widget';
  if (element.tagName === 'LABEL') return LABELLED_HIDDEN(element) || (listensItself(element) && !namesAnother(element)) ? 'listener' : '';
  if (isRoot(element) || lists.has(element)) return '';
  if (listensItself(element) || delegated.has(element) || pressAttribute(element)) return 'listener';
  if (element.draggable && element.tagName !== 'IMG' && element.tagName !== 'A') return 'listener';
  if (element.tabIndex >= 0 && element.hasAttribute('tabindex')) return 'listener';
  if (style.cursor === 'pointer' && parentCursor !== 'pointer') return 'pointer';
  return '';
};
