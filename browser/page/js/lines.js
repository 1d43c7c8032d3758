// The page as lines of pieces, while it is walked; and what the walk asks about single elements.
const REPEAT_FROM = 6; // children alike from which on they count as repeated rows
const HITS_LIMIT = 700; // looks at what lies above; each costs a hit test
const OPTIONS_SHOWN = 300;

class Lines {
  constructor(limits) {
    this.limits = limits;
    this.all = [];
    this.line = null;
    this.chars = 0;
    this.pending = null; // kind of the next line: heading level, list item, row
    this.space = false;
    this.depth = 0;
    this.region = 0;
    this.group = null;
  }
  open() {
    if (this.line && this.pending) {
      this.line.k = this.pending;
      this.pending = null;
    }
    if (!this.line) {
      this.line = { d: this.depth, k: this.pending ?? 'p', p: [], g: this.group };
      this.pending = null;
    }
    return this.line;
  }
  text(text, hidden) {
    const line = this.open();
    const last = line.p[line.p.length - 1];
    const lead = this.space && line.p.length ? ' ' : '';
    if (typeof last === 'string' && !hidden) line.p[line.p.length - 1] = last + lead + text;
    else line.p.push(hidden ? { t: text, x: hidden, w: lead } : lead + text);
    this.chars += text.length;
    this.space = false;
    return { pieces: line.p, at: line.p.length - 1, end: line.p.at(-1).length };
  }
  // Closes a control; where its whole content is the line before, the end belongs there.
  close(ref) {
    const line = this.line ?? this.all[this.all.length - 1];
    if (line?.p.some((piece) => piece.open && piece.r === ref)) line.p.push({ e: ref });
  }
  piece(piece) {
    const line = this.open();
    if (this.space && line.p.length) piece.w = ' ';
    line.p.push(piece);
    this.chars += 24 + (piece.n?.length ?? 0);
    this.space = false;
  }
  row(texts) {
    this.flush();
    this.pending = 'board';
    texts.forEach((text, at) => {
      if (at) this.piece({ c: 1 });
      this.text(text, '');
    });
    this.flush();
    this.pending = null;
  }
  // What is drawn; the same again, right after it, is counted.
  picture(told) {
    const before = this.line?.p.length ? this.line.p.at(-1) : this.all.at(-1)?.p.length === 1 ? this.all.at(-1).p[0] : null;
    if (before?.drawn === told) before.i = `${before.times = (before.times ?? 1) + 1} × ${told}`;
    else this.piece({ i: told, drawn: told });
  }
  // A line that so far only opens a control goes on: the control's first text belongs to it.
  end() {
    if (this.line?.p.length && this.line.p.every((piece) => piece.open)) return;
    this.flush();
  }
  flush() {
    if (this.line?.p.length) this.all.push(this.line);
    this.line = null;
    this.space = false;
  }
  rename(renamed) {
    for (const line of this.all) {
      if (line.f) line.f = renamed.get(line.f) ?? line.f;
      for (const piece of line.p) {
        if (piece.r) piece.r = renamed.get(piece.r) ?? piece.r;
        if (piece.e) piece.e = renamed.get(piece.e) ?? piece.e;
      }
    }
  }
  full() {
    return this.chars > this.limits.chars || performance.now() > this.limits.until;
  }
}

// A drawn select says its value as its text; a field has no text of its own.
const takesText = (element, role) => EDITABLE.has(role) &&
  !(role === 'combobox' && element.tagName !== 'INPUT' && !element.isContentEditable);

// Drawn ones may hold arrows, handles and options that are worked by themselves.
const MADE_OF_PARTS = new Set(['listbox', 'combobox', 'spinbutton', 'slider']);

const NAME_COMPARED = 40, TEXT_COMPARED = 400;
const VALUE_LIMIT = 20000; // characters of a field's value
const BOXES = new Set(['DIV', 'SPAN', 'I', 'P', 'LI', 'TD']);

const INNER = 'a[href],button,input:not([type=hidden]),select,textarea,[contenteditable=""],[contenteditable=true],'
  + ['button', 'link', 'checkbox', 'radio', 'switch', 'slider', 'spinbutton', 'textbox', 'searchbox', 'combobox'].map((role) => `[role=${role}]`).join();

// Who has no place of its own, or only repeats the one control in it, is pressed through that.
const holdsAnother = (element, rect) => {
  const shadow = shadowOf(element);
  if (!element.childElementCount && !shadow) return false;
  if (rect.width < 2 || rect.height < 2) return true;
  const inner = [...(shadow ?? element).querySelectorAll(INNER)].filter((one) => !one.querySelector(INNER));
  if (!inner.length || inner.length > PARTS_OF_A_FIELD || inner[0].type === 'file') return false;
  if (inner.length === 1 && sizeable(inner[0]) && shortText(inner[0], TEXT_COMPARED) === shortText(element, TEXT_COMPARED)) return true;
  return wrapsField(element, inner.filter((one) => !one.closest('[aria-hidden=true]')));
};

// A box that is drawn around a box of the page's own is no second one.
const BOX_ROLES = new Set(['checkbox', 'radio', 'switch']);
const doubles = (element, role) => {
  const inner = BOX_ROLES.has(role) ? element.querySelectorAll('input') : [];
  return inner.length === 1 && BOX_ROLES.has(roleOf(inner[0])) && fills(inner[0], element);
};

// A field with its arrow and its cross is one thing: what is drawn around them says no more than its name.
const PARTS_OF_A_FIELD = 4;
const wrapsField = (element, inner) => {
  const [field, ...more] = inner.filter((one) => EDITABLE.has(roleOf(one)));
  if (!field || more.length || element.offsetHeight > WRAPPED_HIGH || !sizeable(field)) return false;
  if (isWithin(element, wrapperOf(field))) return true;
  const name = attributeName(field);
  const rest = [...inner.map((one) => squash(one.textContent)), name].reduce((text, said) => (said ? text.replaceAll(said, '') : text), squash(element.textContent));
  return !/[\p{L}\p{N}]/u.test(rest);
};

// Whether nothing else that can be seen stands between an element and one around it.
const aloneIn = (element, outer) => {
  let at = element;
  const alone = (one) => [...one.parentNode.children].every((other) => other === one || other.ariaHidden === 'true' || !other.getClientRects().length);
  while (composedParent(at) && at !== outer && alone(at)) at = composedParent(at);
  return at === outer;
};

const STANDS_FROM = 8; // pixels; what is smaller is there for readers of the screen alone
const sizeable = (element) => {
  const { width, height } = element.getBoundingClientRect();
  return width >= STANDS_FROM && height >= STANDS_FROM;
};

// A box that cannot be seen and fills what is drawn in its place (a switch, a tick) is what the pointer hits.
const drawnByItsParent = (element) => {
  if (!sizeable(element)) return false;
  if (element.role === 'combobox') return !!wrapperOf(element);
  if (!/^(checkbox|radio|range)$/.test(element.type)) return false;
  return fills(element, element.parentElement);
};
const fills = (element, outer) => {
  const [own, around] = [element, outer].map((one) => one?.getBoundingClientRect());
  return !!around && own.width >= around.width / 2 && own.height >= around.height / 2;
};

// A label that is pressed in place of its box, which is drawn by it alone.
const boxOfLabel = (element) => (element.tagName === 'LABEL' && LABELLED_HIDDEN(element) ? element.control : null);
const drawnByItsLabel = (element) => /^(checkbox|radio|file)$/.test(element.type)
  && [...(element.labels ?? [])].some((label) => boxOfLabel(label) && sizeable(label) && !holdsAnother(label, label.getBoundingClientRect()));

// The words of an item of a tree without those of the items in it, and of the controls beside them.
const ITEM_WORDS = 200;
const itemWords = (item) => {
  const found = [];
  let length = 0;
  for (const node of textNodes(item)) {
    const owner = node.parentElement?.closest(INNER + ',[role=treeitem],[role=group]');
    if (owner !== item || !/[\p{L}\p{N}]/u.test(node.data)) continue; // an arrow names nothing
    found.push(node);
    if ((length += node.data.length) > ITEM_WORDS) break;
  }
  return found;
};

// What fills a control without a word of its own is where that is taken hold of; what lies under a box that
// cannot be seen is how that is drawn.
const partOfControl = (element) => {
  const outer = composedParent(element);
  if ([...(outer?.children ?? [])].some((other) => other !== element && other.tagName === 'INPUT' && drawnByItsParent(other))) return true;
  return !!outer && refOf.has(outer) && WIDGETS.has(roleOf(outer)) && fills(element, outer) && !attributeName(element);
};

const isHeard = (shape, svg, delegated) => {
  for (let at = shape; at && at !== svg; at = at.parentElement) if (listensItself(at) || delegated.has(at)) return true;
  return false;
};

const isActed = (cell, delegated) => delegated.has(cell) || listensItself(cell) || WIDGETS.has(roleOf(cell));

const isBlock = (display) => display !== 'inline' && display !== 'contents' && !display.startsWith('inline') && !display.startsWith('ruby');

const isListed = (option) => [option, option.parentElement].every((one) => getComputedStyle(one).display !== 'none' || one.tagName === 'SELECT');
const optionTexts = (select) => [...select.options].filter(isListed).slice(0, OPTIONS_SHOWN).map((option) => squash(option.label || option.text));

const hitTester = () => {
  let left = HITS_LIMIT;
  return (element, rect, opaqueOnly, roll) => {
    const x = rect.left + rect.width / 2, y = rect.top + rect.height / 2;
    if (left <= 0 || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
    if (roll && (y < roll.box.top || y > roll.box.bottom || x < roll.box.left || x > roll.box.right)) return false; // scrolled away, not covered
    left -= 1;
    const hit = deepHit(x, y);
    if (!hit || related(hit, element)) return false;
    return opaqueOnly ? paints(hit, element) : true;
  };
};

const related = (hit, element) => lands(hit, element) || isWithin(element, hit);

const isOpaque = (colours) => colours.length > 0 && colours.every((colour) => colour[3] > 0.95);
const paints = (hit, element) => {
  for (let at = hit; at && !(element && at.contains(element)); at = composedParent(at)) {
    if (/^(IMG|VIDEO|CANVAS|IFRAME)$/.test(at.tagName)) return true;
    const style = getComputedStyle(at);
    const back = parseColour(style.backgroundColor);
    if (Number(style.opacity) < 0.9) return false;
    if ((back && back[3] > 0.95) || /url\(/.test(style.backgroundImage) || isOpaque(gradientColours(style.backgroundImage))) return true;
  }
  return false;
};

// A table that lays out a page is read as blocks, one that holds data as rows.
const layoutTables = new WeakMap();
const isLayout = (table) => {
  if (!table) return true;
  if (!layoutTables.has(table)) layoutTables.set(table, !!table.querySelector('table,h1,h2,h3,ul,ol,iframe,form,p+p'));
  return layoutTables.get(table);
};

const repeats = (element) => {
  if (element.childElementCount < REPEAT_FROM) return '';
  const counts = new Map();
  let children = 0;
  for (let child = element.firstElementChild; child && children < 60; child = child.nextElementSibling, children += 1) {
    const shape = child.tagName + '.' + (child.classList[0] ?? '');
    counts.set(shape, (counts.get(shape) ?? 0) + 1);
  }
  const [shape, count] = [...counts].sort((a, b) => b[1] - a[1])[0];
  return count >= REPEAT_FROM ? shape : '';
};

const shortLink = (element) => {
  const href = element.getAttribute('href') ?? '';
  if (!href || /^(javascript:|#|data:|blob:)/i.test(href)) return href.startsWith('#') ? href.slice(0, 40) : '';
  try {
    const url = new URL(href, document.baseURI);
    return /^https?:$/.test(url.protocol) ? url.href : url.protocol;
  } catch {
    return '';
  }
};

// Where an element without anything to tell it apart stands among many alike: "row 2, column 3".
const GRID_FROM = 4;
const GRID_TO = 900;
// Whether something beside it has the same class, data and colour.
const TWINS_LOOKED_AT = 60;
const hasTwin = (element, style) => !element.id && [...(element.parentElement?.children ?? [])].slice(0, TWINS_LOOKED_AT).some((other) => {
  if (other === element || other.tagName !== element.tagName || other.getAttribute('class') !== element.getAttribute('class')) return false;
  if (Object.values(element.dataset).join() !== Object.values(other.dataset ?? {}).join()) return false;
  if (element.namespaceURI?.endsWith('svg')) return false; // shapes are told apart by where they are
  return getComputedStyle(other).backgroundColor === style.backgroundColor;
});
let places = new Map(); // parent -> Map(child -> words), within one walk
const placeOf = (element) => {
  const parent = element.parentElement;
  if (!parent || parent.childElementCount < GRID_FROM || parent.childElementCount > GRID_TO) return '';
  if (!places.has(parent)) places.set(parent, placesIn([...parent.children].filter((child) => child.tagName === element.tagName)));
  return places.get(parent).get(element) ?? '';
};
const placesIn = (children) => {
  if (children.length < GRID_FROM) return new Map();
  const boxes = children.map((child) => child.getBoundingClientRect());
  const rank = (side) => [...new Set(boxes.map((box) => Math.round(box[side])))].sort((a, b) => a - b);
  const rows = rank('top'), columns = rank('left');
  return new Map(children.map((child, at) => {
    const row = rows.indexOf(Math.round(boxes[at].top)) + 1, column = columns.indexOf(Math.round(boxes[at].left)) + 1;
    if (rows.length === 1 || columns.length === 1) return [child, `${rows.length === 1 ? column : row} of ${children.length}`];
    return [child, `row ${row}, column ${column}`];
  }));
};
