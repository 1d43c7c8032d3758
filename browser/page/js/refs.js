// A ref belongs to its element as long as the document exists. If the element is replaced, the ref moves to its
// successor if exactly one element has the same fingerprint.
const registry = new Map(); // ref -> { element: WeakRef, print, past }; `past` is the fingerprint from the previous walk
const refOf = new WeakMap(); // element -> ref
let refCount = 0;
let refPrefix = 'e';

const ROW = 'li,tr,article,option,[role=row],[role=listitem],[role=option],[role=treeitem],[role=article]';
const MAX_LEVELS_TO_ROW = 12;
const ROW_TEXT = 160, CAPTION_TEXT = 80, NAME_TEXT = 120; // characters
const KEY_ATTRIBUTES = new Set(['id', 'name', 'type', 'href', 'value', 'for', 'aria-controls']);

const register = (element) => {
  let ref = refOf.get(element);
  if (!ref) {
    ref = refPrefix + (refCount += 1);
    refOf.set(element, ref);
  }
  registry.set(ref, { element: new WeakRef(element), print: null, past: registry.get(ref)?.print ?? null });
  return ref;
};

const closestRow = (element) => (element.closest(ROW) || element.getRootNode() !== document ? outward(element, (at) => at.matches(ROW), MAX_LEVELS_TO_ROW) : null);

// `said` is the beginning of the element's text, if known.
const ownName = (element, role = roleOf(element), said = undefined) => attributeName(element)
  || (EDITABLE.has(role) ? '' : (said ?? shortText(element, MAX_TEXT_COMPARED_CHARS)).slice(0, NAME_TEXT)) || fallbackName(element);

const lineOf = (element) => `${roleOf(element) || 'clickable'} "${ownName(element).slice(0, 60)}"`;

// Attributes that identify the element; others, which frameworks may generate, would only mislead.
const keyOf = (element, role = roleOf(element)) => {
  let key = element.tagName;
  for (const name of element.getAttributeNames()) {
    if (!(KEY_ATTRIBUTES.has(name) || name.startsWith('data-')) || (name === 'value' && EDITABLE.has(role))) continue;
    key += `|${name}=${element.getAttribute(name).slice(0, 80)}`;
  }
  return key;
};

// A cache for taking many fingerprints together: shared values are read once.
let shared = null; // { texts, captions }, each by element
const once = (kind, element, read) => {
  if (!shared) return read(element);
  let found = shared[kind].get(element);
  if (found === undefined) shared[kind].set(element, (found = read(element)));
  return found;
};
const rowText = (element) => once('texts', element, (row) => shortText(row, ROW_TEXT));

// The text before a table or list, which says what it is about: day 17 of another month is a different day.
const captionOf = (element) => {
  const list = element.closest('table,ul,ol,dl,[role=grid],[role=listbox],[role=tree]');
  return list ? once('captions', list, () => textBefore(list) + ' ' + headOf(list)) : '';
};

// Letters and digits only, because the arrow of a sorted column appears and disappears.
const headOf = (list) => {
  const head = list.tagName === 'TABLE' ? list.caption ?? list.tHead : null;
  return head ? squash(shortText(head, CAPTION_TEXT).replace(/[^\p{L}\p{N}]+/gu, ' ')) : '';
};

const textBefore = (list) => {
  let text = '';
  for (let at = list.previousSibling; at && text.length < CAPTION_TEXT; at = at.previousSibling) {
    const own = at.nodeType === Node.TEXT_NODE ? squash(at.data) : at.nodeType === Node.ELEMENT_NODE ? shortText(at, CAPTION_TEXT) : '';
    text = own + ' ' + text;
  }
  return squash(text);
};

const contextOf = (element) => {
  const parent = composedParent(element);
  return parent ? rowText(parent) : '';
};

const fingerprintOf = (element, said = undefined) => {
  const role = roleOf(element), row = closestRow(element), name = ownName(element, role, said);
  return {
    role, name, key: keyOf(element, role),
    icon: name || EDITABLE.has(role) ? '' : iconOf(element),
    caption: captionOf(element),
    row: row && row !== element ? rowText(row) : '',
    around: shared ? contextOf(element) : '', // only while the fingerprints of a walk are taken
  };
};

const sameFingerprint = (a, b) => ['role', 'name', 'key', 'icon', 'row'].every((part) => a[part] === b[part]);

const candidatesFor = (print) => {
  const tag = print.key.split('|')[0];
  return [...everyElement()].filter((element) => element.tagName === tag && roleOf(element) === print.role);
};

// The share of words that two strings have in common, from 0 to 1.
const wordOverlap = (a, b) => {
  const words = new Set(a.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  const others = b.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  if (!words.size || !others.length) return words.size === others.length ? 1 : 0;
  return others.filter((word) => words.has(word)).length / Math.max(words.size, others.length);
};

// The similar elements with the same text around them or, if there are none, with text that begins the same and hardly
// differs, as in a row whose numbers change.
const MIN_CONTEXT_OVERLAP = 0.7;
const withSameContext = (print, alike) => {
  const same = alike.filter((other) => contextOf(other) === print.around);
  if (same.length) return same;
  const begin = (text) => /^\S*\p{L}\S*(?: \S+)?/u.exec(text)?.[0];
  const wanted = begin(print.around);
  return alike.filter((other) => wanted && begin(contextOf(other)) === wanted && wordOverlap(contextOf(other), print.around) >= MIN_CONTEXT_OVERLAP);
};

const rebind = (ref, element, print = fingerprintOf(element)) => {
  const before = registry.get(ref)?.element.deref();
  if (before && refOf.get(before) === ref) refOf.delete(before); // if it returns to the page, it gets another ref
  refOf.set(element, ref);
  registry.set(ref, { element: new WeakRef(element), print });
  return { element };
};

// Gives re-rendered or reloaded elements the refs that they had before: [[new, old]]. Returns the changes made, as
// { new: old }.
const rebindAll = (pairs) => {
  const done = {};
  for (const [anew, old] of pairs) {
    const { element: weak, print } = registry.get(anew) ?? {}, element = weak?.deref();
    if (!element || registry.get(old)?.element.deref()?.isConnected) continue;
    rebind(old, element, print);
    registry.delete(anew);
    done[anew] = old;
  }
  return done;
};

// An element with text is identified by its text and the text around it; an element without text by its id or data, even if
// text is added later.
const fullKey = (print) => JSON.stringify([print.role, print.key, print.name, print.icon, print.row, print.caption, print.around]);
const bareKey = (print) => (print.key.includes('|') ? JSON.stringify([print.role, print.key, print.caption]) : '');

// Lists that scrolled since the previous walk: they may show other rows in the same elements.
const scrolledTo = new WeakMap(); // list -> its position at the last walk
let rolled = new Set();
const noteScroll = (list) => {
  const at = `${list.scrollLeft},${list.scrollTop}`;
  if (scrolledTo.has(list) && scrolledTo.get(list) !== at) rolled.add(list);
  scrolledTo.set(list, at);
};

// Whether an element in a list that scrolled now shows a different row, and so must get a new ref.
const isRecycled = (element, { print, past }) => {
  if (!past?.row || !print.row || sameFingerprint(past, print) || wordOverlap(besides(print), besides(past)) >= MIN_ROW_OVERLAP) return false;
  return !!outward(element, (at) => rolled.has(at));
};

// Takes the fingerprints of all elements shown by a walk: [{ element, ref }]. An element that was re-rendered since the
// previous walk (refs after number `before`) keeps its ref if it is certainly the same: for a calendar that re-renders
// itself on each click, the diff then shows only the day that changed. Returns a map from new refs to old ones.
const takeFingerprints = (shown, before) => {
  shared = { texts: new Map(), captions: new Map() };
  for (const { element, ref, said } of shown) registry.get(ref).print = fingerprintOf(element, said);
  shared = null;
  const renamed = new Map(), recycled = new Map(); // new ref -> the one that its element had in another row
  for (const one of rolled.size ? shown : []) {
    const known = registry.get(one.ref);
    if (!isRecycled(one.element, known)) continue;
    const ref = refPrefix + (refCount += 1);
    registry.set(ref, known).set(one.ref, { ...known, print: known.past });
    refOf.set(one.element, ref);
    renamed.set(one.ref, ref);
    recycled.set(ref, one.ref);
    one.ref = ref;
  }
  rolled = new Set();
  const fresh = shown.filter(({ ref }) => Number(ref.slice(refPrefix.length)) > before);
  if (!fresh.length) return renamed;
  const lost = new Map(), now = new Map(); // key -> ref, null if several have it; key -> how many have it
  const keep = (key, ref) => { if (key) lost.set(key, lost.has(key) ? null : ref); };
  for (const [ref, { element, print }] of registry) {
    const holder = element.deref();
    if (!print || (holder?.isConnected && refOf.get(holder) === ref)) continue;
    keep(fullKey(print), ref);
    if (!print.name || print.bare) keep(bareKey(print), ref);
  }
  if (!lost.size) return renamed;
  for (const { ref } of shown) {
    const { print } = registry.get(ref);
    for (const key of [fullKey(print), bareKey(print)]) now.set(key, (now.get(key) ?? 0) + 1);
  }
  for (const { element, ref } of fresh) {
    const { print } = registry.get(ref);
    const key = [fullKey(print), bareKey(print)].find((one) => lost.get(one) && now.get(one) === 1);
    if (!key) continue;
    const old = lost.get(key);
    lost.delete(key);
    rebind(old, element, { ...print, bare: key === bareKey(print) });
    registry.delete(ref);
    renamed.set(recycled.get(ref) ?? ref, old);
  }
  return renamed;
};

const nameCandidates = (print) => candidatesFor(print)
  .map((element) => ({ element, score: wordOverlap(print.name + ' ' + print.row, ownName(element) + ' ' + fingerprintOf(element).row) }))
  .filter((entry) => entry.score > 0 || !print.name)
  .sort((a, b) => b.score - a.score).slice(0, 5)
  .map(({ element }) => `[${register(element)}] ${lineOf(element)} in "${contextOf(element).slice(0, 60)}"`);

// Returns { element }, or { why, print } if it no longer exists or is ambiguous. A connected element may have been given other
// content (recycled rows in a virtual list): in that case, the element that now has the old content is searched for.
const MIN_ROW_OVERLAP = 0.5;
const besides = ({ row, name }) => row.replace(name, ' ');
const resolve = (ref) => {
  const { element: weak, print } = registry.get(ref) ?? {};
  const gone = (why) => ({ why: `${ref} ${why}`, print });
  if (!weak) return gone('is not a ref on this page');
  const element = weak.deref();
  if (!print) return element?.isConnected ? { element } : gone('left the page');
  if (element?.isConnected) {
    const now = fingerprintOf(element);
    if (sameFingerprint(print, now)) return { element };
    const moved = candidatesFor(print).filter((other) => other !== element && sameFingerprint(print, fingerprintOf(other)));
    if (moved.length === 1) return rebind(ref, moved[0]);
    if (moved.length > 1) return gone('was given to another element, and several now look like it');
    if (now.key !== print.key && now.name !== print.name) return gone(`is now ${lineOf(element)}`);
    if (wordOverlap(besides(now), besides(print)) < MIN_ROW_OVERLAP) return gone(`is now in another row: "${now.row.slice(0, 60)}"`);
    return { element };
  }
  const matches = candidatesFor(print).filter((other) => {
    const now = fingerprintOf(other);
    return sameFingerprint(print, now) && now.caption === print.caption;
  });
  const beside = matches.length > 1 && print.around ? withSameContext(print, matches) : matches;
  if (beside.length === 1) return rebind(ref, beside[0]);
  return gone(matches.length ? `left the page, and ${matches.length} elements look like it` : 'left the page');
};

// Identifies an element across page loads: by its fingerprint and path.
const identify = (element) => ({ ...fingerprintOf(element), path: pathOf(element) });

const pathOf = (element) => {
  const steps = [];
  for (let at = element; at; at = at.parentElement) {
    if (at.id && document.querySelectorAll('#' + CSS.escape(at.id)).length === 1) return ['#' + CSS.escape(at.id), ...steps].join('>');
    const alike = [...(at.parentElement?.children ?? [])].filter((other) => other.tagName === at.tagName);
    steps.unshift(CSS.escape(at.localName) + (alike.length > 1 ? `:nth-of-type(${alike.indexOf(at) + 1})` : ''));
  }
  return steps.join('>');
};

// Finds an identified element, trying in turn: its path, if its id, address or name match; a unique id, address or name; its
// path with different text, if it has neither id nor address.
const identified = (known) => {
  const alike = candidatesFor(known);
  const own = known.key.includes('|');
  const keyed = own ? alike.filter((other) => keyOf(other) === known.key) : [];
  const named = known.role && known.name ? alike.filter((other) => ownName(other) === known.name) : [];
  const there = alike.find((other) => other === document.querySelector(known.path));
  if (there && (keyed.includes(there) || named.includes(there))) return there;
  if (keyed.length === 1) return keyed[0];
  if (named.length === 1) return named[0];
  return (!own && there) || null;
};
