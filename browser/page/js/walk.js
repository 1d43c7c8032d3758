// One walk over the composed tree, without recursion, gives the page as lines of pieces.
const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'META', 'LINK', 'TITLE', 'BASE', 'PARAM', 'SOURCE', 'TRACK', 'DATALIST',
  'title', 'desc', 'defs', 'symbol', 'clipPath', 'metadata', 'style', 'script']);
const TEXT_NODE_LIMIT = 150000; // characters; the rest of a longer one is left out and marked with …
const BLANK = /^[\u200b-\u200f\u2060\ufeff\s]+$/; // keeps a line open, and says nothing
const SPEAKING = new Set(['', 'button', 'link', 'menuitem', 'tab']); // their words are their own, not what they hold
const CONTROLS_WITHOUT_CONTENT = new Set(['INPUT', 'SELECT', 'TEXTAREA', 'CANVAS', 'VIDEO', 'AUDIO', 'IFRAME', 'FRAME', 'METER', 'PROGRESS', 'OBJECT', 'EMBED']);

class Walk {
  constructor(options) {
    findReact();
    suspected = [];
    places = new Map();
    this.delegated = delegatedTargets();
    this.hovered = hoverOwners();
    this.lines = new Lines({ chars: options.chars, until: performance.now() + options.ms });
    this.covered = hitTester();
    this.range = document.createRange();
    this.frames = [];
    this.shown = [];
    this.groups = 0;
    this.opened = []; // controls that the walk is in, with their text
    this.inks = new WordInks();
    this.said = new WeakSet(); // text that stands in a control's name already
    this.cut = false;
    this.refsBefore = refCount;
    this.below = options.below; // leave out what was scrolled past, of a page too large to be walked whole
  }

  run(root) {
    const above = [];
    for (let at = composedParent(root); at && at !== document.documentElement; at = composedParent(at)) above.unshift(at);
    const look = above.reduce((outer, at) => lookInside(at, getComputedStyle(at), outer), ROOT_LOOK);
    const stack = [{ node: root, look, cursor: above.length ? getComputedStyle(above.at(-1)).cursor : '', repeat: null }];
    let visited = 0;
    while (stack.length) {
      const job = stack.pop();
      if (job.leave) job.leave();
      else if ((visited += 1) % 64 === 0 && this.lines.full()) {
        this.cut = true;
        stack.length = 0;
      } else this.visit(job, stack);
    }
    this.lines.flush();
  }

  result() {
    shared = new Map();
    for (const { element, ref } of this.shown) registry.get(ref).print = printOf(element);
    shared = null;
    tellApart(this.shown);
    this.inks.tell();
    const renamed = inherited(this.shown, this.refsBefore);
    if (renamed.size) this.lines.rename(renamed);
    return {
      lines: this.lines.all, cut: this.cut, frames: this.frames.map((ref) => renamed.get(ref) ?? ref), title: document.title,
      url: location.href, consent: !!findConsent(), suspects: suspected.length,
    };
  }

  visit(job, stack) {
    const { node } = job;
    if (node.nodeType === Node.TEXT_NODE) this.text(job);
    else if (node.nodeType === Node.ELEMENT_NODE) this.element(job, stack);
  }

  text({ node, parent, style, look }) {
    if (this.said.has(node)) return;
    const raw = node.data.length > TEXT_NODE_LIMIT ? node.data.slice(0, TEXT_NODE_LIMIT) + '…' : node.data;
    const text = squash(raw);
    if (!text || BLANK.test(text)) {
      if (raw) this.lines.space = true;
      return;
    }
    if (style.visibility !== 'visible') return;
    this.range.selectNode(node);
    const rect = this.range.getBoundingClientRect();
    let hidden = textHidden(style, look, rect);
    if (hidden === 'invisible' && parent.closest('[aria-hidden=true]')) return; // it is there for nobody
    if (hidden === 'invisible' && rect.width === 0 && rect.height === 0 && !this.range.getClientRects().length) return;
    if (!hidden && this.covered(parent, rect, !look.turns, look.roll)) hidden = look.turns ? 'turned away' : 'covered';
    if (/^\s/.test(raw)) this.lines.space = true;
    if (style.whiteSpace.startsWith('pre') && raw.includes('\n')) this.preformatted(raw, hidden);
    else if (hidden || this.opened.length) this.lines.text(text, hidden);
    else this.inks.note(parent, style, this.lines.text(text, ''));
    if (/\s$/.test(raw)) this.lines.space = true;
  }

  preformatted(raw, hidden) {
    for (const row of raw.split('\n')) {
      if (row.trim()) {
        this.lines.pending ??= 'pre';
        this.lines.text(row.trimEnd(), hidden);
      }
      if (!this.inRow) this.lines.end();
    }
  }

  element(job, stack) {
    const element = job.node;
    if (SKIPPED.has(element.tagName)) return;
    const style = getComputedStyle(element);
    if ((style.display === 'none' && element.tagName !== 'AREA') || style.contentVisibility === 'hidden') return;
    if (this.below && scrolledPast(element)) return;
    const look = lookInside(element, style, job.look);
    suspect(element, style);
    const role = roleOf(element);
    const block = isBlock(style.display) || element.tagName === 'BR';
    const leave = []; // what closes when the element ends, in the order of opening
    if (block) this.boundary();
    this.structure(element, role, job, leave);
    if (block) leave.push(() => this.boundary());
    const scrolls = style.visibility === 'visible' ? scrollsOf(element, style) : '';
    if (scrolls) {
      const ref = register(element);
      this.shown.push({ element, ref });
      this.lines.piece({ r: ref, k: 'scroller', a: scrolls });
      this.boundary();
    }
    const done = this.control(element, role, style, look, job, leave);
    for (const step of leave) stack.push({ leave: step });
    if (!done && !this.board(element, style, look)) this.descend(element, style, look, stack);
  }

  boundary() {
    if (this.inRow) this.lines.space = true;
    else this.lines.end();
  }

  // Headings, list items, rows, regions and frames give their lines a kind, a depth, a group.
  structure(element, role, job, leave) {
    const lines = this.lines;
    if (job.repeat && element.tagName + '.' + (element.classList[0] ?? '') === job.repeat.shape) {
      const before = lines.group;
      lines.group = [job.repeat.id, (job.repeat.count += 1)];
      leave.push(() => { lines.group = before; });
    }
    if (role === 'heading') {
      this.boundary();
      lines.pending = 'h' + (Number(element.getAttribute('aria-level')) || Number(element.tagName[1]) || 2);
      leave.push(() => { lines.pending = null; });
    } else if (element.tagName === 'LI' || role === 'listitem' || role === 'treeitem') {
      if (!this.inRow) lines.pending = 'li';
    } else if (element.tagName === 'UL' || element.tagName === 'OL') {
      lines.depth += 1;
      leave.push(() => { lines.depth -= 1; });
    } else if ((element.tagName === 'TR' || role === 'row') && !this.inRow && !isLayout(element.closest('table,[role=grid],[role=table]'))) {
      lines.end();
      lines.pending = element.querySelector('th,[role=columnheader]') && !element.querySelector('td,[role=cell],[role=gridcell]') ? 'th' : 'row';
      this.inRow = true;
      this.cells = 0;
      leave.push(() => { this.inRow = false; lines.end(); });
    } else if (this.inRow && /^(TD|TH)$/.test(element.tagName) || (this.inRow && /^(cell|gridcell|columnheader|rowheader)$/.test(role))) {
      if (this.cells > 0) lines.piece({ c: 1 }); // an empty cell keeps its column
      this.cells += 1;
    } else if (REGIONS.has(role) && !this.inRow) this.region(element, role, leave);
  }

  region(element, role, leave) {
    const name = regionName(element);
    if (!name && !ALWAYS_SHOWN.has(role)) return;
    const lines = this.lines;
    lines.flush();
    const mark = lines.all.length;
    lines.all.push({ d: lines.depth, k: 'region', p: [name], r: role, g: lines.group });
    lines.depth += 1;
    leave.push(() => {
      lines.end();
      lines.depth -= 1;
      if (lines.all.length === mark + 1) lines.all.pop();
    });
  }

  // Returns true when the element's own content must not be walked.
  control(element, role, style, look, job, leave) {
    const tag = element.tagName;
    if (tag === 'IFRAME' || tag === 'FRAME') return this.frame(element, style, look);
    if (tag === 'IMG' || role === 'img') this.image(element, style, look);
    if (tag === 'svg') this.drawing(element, job);
    const why = style.visibility === 'visible' ? actionable(element, role, style, job.cursor, this.delegated) || (this.hovered.has(element) || hoverable(element) ? 'hover' : '') : '';
    if (!why && BOXES.has(tag)) this.box(element, style, job.look);
    if (!why && !(tag === 'PROGRESS' || tag === 'METER')) return tag === 'IMG' || (tag === 'OPTION' && !WIDGETS.has(role));
    const rect = element.getBoundingClientRect();
    const piece = this.describePiece(element, role, why, style, look, rect);
    if (!piece) return CONTROLS_WITHOUT_CONTENT.has(tag);
    this.shown.push({ element, ref: piece.r, piece, name: this.named, ground: style.backgroundColor, ink: style.color });
    this.lines.piece(piece);
    if (piece.open) {
      this.opened.push({ element, text: this.said400 });
      leave.push(() => {
        this.opened.pop();
        this.lines.close(piece.r);
      });
    }
    return CONTROLS_WITHOUT_CONTENT.has(tag) || (!piece.open && piece.n !== undefined && piece.whole);
  }

  describePiece(element, role, why, style, look, rect) {
    if (why === 'widget' ? doubles(element, role) : this.repeats(element, rect)) return null;
    const box = boxOfLabel(element);
    const piece = { r: register(element), k: role || (box && roleOf(box)) || ({ widget: '', hover: 'hoverable' }[why] ?? 'clickable') };
    const value = valueOf(element, role);
    const states = statesOf(box ?? element, box ? roleOf(box) : role);
    if (value) piece.v = value.slice(0, VALUE_LIMIT);
    if (states.length) piece.s = states;
    const hidden = this.controlHidden(element, role, look, rect);
    if (hidden === 'invisible' && (drawnByItsLabel(element) || drawnFor(element) || (element.tabIndex < 0 && element.closest('[aria-hidden=true]')))) return null;
    if (hidden) piece.x = hidden;
    if (role === 'link') piece.u = shortLink(element);
    if (element.tagName === 'SELECT') piece.o = optionTexts(element);
    const name = attributeName(element) || (box ? attributeName(box) : '');
    const text = CONTROLS_WITHOUT_CONTENT.has(element.tagName) ? '' : shortText(element, 400);
    this.said400 = text;
    if (role === 'treeitem') return this.treeItem(element, piece, name);
    this.named = (name || text).slice(0, NAME_COMPARED);
    if (!text || box || takesText(element, role)) {
      piece.n = (box && text) || name || spare(element) || this.imageName(element);
      this.label(piece, (box && text) || (name ? !isLabelOnly(name === attributeName(element) ? element : box) : piece.n === styledWords(element)));
      if (!piece.n && piece.x === 'invisible' && !EDITABLE.has(role)) return null;
      const rowTells = this.inRow && (BOX_ROLES.has(role) || role === 'columnheader');
      if (!piece.n && !rowTells) piece.a = this.told(element, role, style);
      piece.whole = (box && text) || (EDITABLE.has(role) && !MADE_OF_PARTS.has(role));
      return piece;
    }
    if (name && !text.includes(name) && name.length <= 80) piece.l = name;
    if (piece.l) this.label(piece, (SPEAKING.has(role) && /\p{L}/u.test(text)) || !isLabelOnly(element));
    piece.open = true;
    return piece;
  }

  label(piece, seen) {
    if (seen || !(piece.n ?? piece.l)) return;
    const key = piece.n ? 'n' : 'l';
    piece[key] = cutLabel(piece[key]);
    piece.s = [...(piece.s ?? []), LABEL_ONLY];
  }

  // An item of a tree is named by its own words, wherever they stand in it.
  treeItem(element, piece, name) {
    const nodes = itemWords(element);
    nodes.forEach((node) => this.said.add(node));
    piece.n = squash(nodes.map((node) => node.data).join(' ')) || name || shortText(element, NAME_COMPARED);
    this.named = piece.n.slice(0, NAME_COMPARED);
    return piece;
  }

  // What only wraps a control, or says the same as the control around it, is no further one.
  repeats(element, rect) {
    if (holdsAnother(element, rect) || (!shortText(element, 1) && partOfControl(element))) return true;
    const outer = this.opened.at(-1);
    const text = element.childElementCount || outer ? shortText(element, 400) : '';
    if (text && outer?.text === text && aloneIn(element, outer.element)) {
      spokenFor.add(outer.element);
      return true;
    }
    const item = element.closest('[role=treeitem]');
    return !!item && !!text && itemWords(item).length > 0 && text === squash(itemWords(item).map((node) => node.data).join(' '));
  }

  board(element, style, look) {
    const first = element.firstElementChild;
    if (!first || style.visibility !== 'visible' || look.gone || isActed(first, this.delegated)) return false;
    const rows = boardOf(element);
    for (const row of rows ?? []) this.lines.row(row);
    return !!rows;
  }

  // Looks alone do not tell things apart that look the same: then their place among them does.
  told(element, role, style) {
    const looks = describe(element, EDITABLE.has(role) ? null : style);
    return !looks || hasTwin(element, style) ? [looks, placeOf(element)].filter(Boolean).join(' ') : looks;
  }

  drawing(svg, job) {
    const told = drawingOf(svg, (shape) => isHeard(shape, svg, this.delegated));
    if (!told || job.look.opacity <= TRANSPARENT) return;
    this.lines.picture(told);
    for (const letter of svg.querySelectorAll('text')) {
      if (told.includes(`text ${squash(letter.textContent)} `)) for (const node of textNodes(letter)) this.said.add(node);
    }
  }

  box(element, style, look) {
    if (refOf.has(element.parentElement)) return; // a part of a control
    const told = boxOf(element, style, look.back, element.getBoundingClientRect());
    if (told) this.lines.picture(told);
  }

  imageName(element) {
    const image = [...element.querySelectorAll('img[alt],svg title,[aria-label],[title]')].find((one) => !WIDGETS.has(roleOf(one)));
    return image ? attributeName(image) || spare(image) || squash(image.textContent) : '';
  }

  controlHidden(element, role, look, rect) {
    if (element.tagName === 'AREA') return ''; // it has no box, its picture has
    const hidden = boxHidden(look, rect);
    if (hidden && !(hidden === 'invisible' && drawnByItsParent(element))) return hidden;
    const hit = (role === 'treeitem' && wordsBox(element)[0]) || rect;
    return this.covered(element, hit, false, look.roll) ? 'covered' : '';
  }

  image(element, style, look) {
    const name = attributeName(element) || spare(element);
    const rect = element.getBoundingClientRect();
    const owner = element.closest('a,button');
    if (owner && (!shortText(owner, 1) || shortText(owner, 400).includes(name))) return; // it names the control
    if (name && rect.width > 8 && !boxHidden(look, rect)) this.lines.piece({ i: name.slice(0, 150) });
  }

  frame(element, style, look) {
    const rect = element.getBoundingClientRect();
    if (rect.width < 4 || rect.height < 4 || element.clientWidth < 2 || element.clientHeight < 2 || style.visibility !== 'visible' || look.opacity <= TRANSPARENT) return true;
    const ref = register(element);
    this.shown.push({ element, ref });
    this.lines.flush();
    this.lines.all.push({ d: this.lines.depth, k: 'frame', p: [cutLabel(attributeName(element) || squash(element.title) || element.name)], f: ref });
    this.frames.push(ref);
    return true;
  }

  descend(element, style, look, stack) {
    const shape = repeats(element);
    const repeat = shape ? { shape, id: (this.groups += 1), count: 0 } : null;
    const jobs = [];
    const shadow = shadowOf(element);
    const assigned = element.tagName === 'SLOT' ? element.assignedNodes() : [];
    const closed = element.tagName === 'DETAILS' && !element.open;
    const source = closed ? element.querySelectorAll(':scope > summary:first-of-type')
      : shadow ? shadow.childNodes : assigned.length ? assigned : element.childNodes;
    for (const node of source) {
      jobs.push({ node, parent: element, style, look, cursor: style.cursor, repeat });
    }
    for (let i = jobs.length - 1; i >= 0; i -= 1) stack.push(jobs[i]);
  }
}

const PAST = -100; // pixels above the view from which on a thing was scrolled past
const scrolledPast = (element) => {
  const { height, bottom } = element.getBoundingClientRect();
  return height > 0 && bottom < PAST;
};

const numbered = (options) => {
  refPrefix = options.prefix;
  refCount = Math.max(refCount, options.start);
};

const walk = (options) => {
  numbered(options);
  const root = document.body ?? document.documentElement;
  if (!root) return { lines: [], frames: [], count: refCount, title: '', url: location.href };
  const scrolled = scrollY > innerHeight / 2;
  const below = options.below && scrolled;
  const walked = new Walk({ ...options, below });
  walked.run(root);
  return { ...walked.result(), ...passed(), scrolled, below, count: refCount };
};

// Parts of a page that is too large to be walked whole: what holds a text, or stands around an element.
const PARTS_LIMIT = 12, PART_TEXT = 2000, AROUND = 10, LOOKED_EVERY = 256;
const SAYING = 'input,textarea,[aria-label],[placeholder],[title],[alt]';
const walkParts = (options) => {
  numbered(options);
  const { found, whole } = options.element ? { found: partsAround(options.element), whole: true } : partsHolding(options.text, performance.now() + options.ms);
  const walked = new Walk(options);
  for (const part of found) if (!walked.cut) walked.run(part);
  return { ...walked.result(), whole, count: refCount };
};

const partsAround = (element) => {
  const row = closestRow(element) ?? element;
  const siblings = [...(row.parentElement?.children ?? [row])];
  const at = siblings.indexOf(row);
  return siblings.slice(Math.max(0, at - AROUND), at + AROUND + 1);
};

// The rows, or else the elements, that say a text as it stands; where none does, all of its words.
const partsHolding = (wanted, until) => {
  const needle = squash(wanted).toLowerCase();
  const words = needle.split(' ');
  const telling = words.reduce((best, word) => (/\d/.test(word) || word.length > best.length ? word : best), '');
  const exact = new Set(), byWords = new Set();
  let asked = 0;
  const take = (element, said) => {
    if (!element || !said.toLowerCase().includes(telling) || !element.checkVisibility()) return;
    const row = closestRow(element);
    const part = row && row.textContent.length <= PART_TEXT ? row : element;
    const text = squash(part.textContent + ' ' + said).toLowerCase();
    if (text.includes(needle)) exact.add(part);
    else if (words.every((word) => text.includes(word))) byWords.add(part);
  };
  const late = () => (asked += 1) % LOOKED_EVERY === 0 && performance.now() > until;
  const gathered = (whole) => ({ found: [...exact, ...byWords].slice(0, PARTS_LIMIT), whole });
  if (!telling) return gathered(true);
  for (const node of textNodes(document.body)) {
    if (exact.size >= PARTS_LIMIT) return gathered(true);
    if (late()) return gathered(false);
    take(node.parentElement ?? node.getRootNode().host, node.data);
  }
  for (const element of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll(SAYING))) {
    if (late()) return gathered(false);
    const value = isField(element) && element.type !== 'password' ? element.value : '';
    take(element, [attributeName(element), element.placeholder, element.title, value].filter(Boolean).join(' '));
  }
  return gathered(true);
};
