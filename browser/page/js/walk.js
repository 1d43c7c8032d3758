// Walks the composed tree, without recursion, and returns the page as lines of pieces.
const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'META', 'LINK', 'TITLE', 'BASE', 'PARAM', 'SOURCE', 'TRACK', 'DATALIST',
  'title', 'desc', 'defs', 'symbol', 'clipPath', 'metadata', 'style', 'script']);
const CONTROLS_WITHOUT_CONTENT = new Set(['INPUT', 'SELECT', 'TEXTAREA', 'CANVAS', 'VIDEO', 'AUDIO', 'IFRAME', 'FRAME', 'METER', 'PROGRESS', 'OBJECT', 'EMBED']);
const MADE_OF_PARTS = new Set(['listbox', 'combobox', 'spinbutton', 'slider']); // their arrows, handles and options are separate controls
const CAPTIONED = new Set(['', 'button', 'link', 'menuitem', 'tab']); // their text is their caption, not their value
const EMPTY_BOX_TAGS = new Set(['DIV', 'SPAN', 'I', 'P', 'LI', 'TD']);
const HAS_WORDS = /[^\u200b-\u200f\u2060\ufeff\ue000-\uf8ff\udb80-\udfff\s]/; // other characters only keep a line open, or belong to icon fonts
const MAX_TEXT_NODE_CHARS = 150000; // the rest of a longer node is left out and marked with …
const MAX_VALUE_CHARS = 20000; // of a field
const MAX_NAME_COMPARED_CHARS = 40, MAX_BOX_TEXT_CHARS = 120;
const MIN_GAP_SHARE = 0.12; // of the text's height; a space is at least twice as wide

class Walk {
  constructor(options) {
    findReact();
    suspected = [];
    places = new Map();
    this.delegated = delegatedTargets();
    this.hovered = hoverOwners();
    this.lines = new Lines({ chars: options.chars, until: performance.now() + options.ms });
    this.isCovered = hitTester();
    this.range = document.createRange();
    this.frames = [];
    this.shown = []; // { element, ref } for all elements with a ref; for a control, also { piece, name, style, said }
    this.splits = new SplitTables();
    this.groups = 0;
    this.opened = []; // the controls around the current node, with their text
    this.inks = new WordInks();
    this.layers = new Set(layersOver(() => true));
    this.lastText = null; // the box of the last visible text
    this.used = new WeakSet(); // text nodes that are part of a control's name or a drawing
    this.cut = false;
    this.inBox = 0; // checkboxes and the like around the current node: their text stays on their line
    this.refsBefore = refCount;
    this.below = options.below; // leave out everything above the view, on a page that is too large to be walked completely
  }

  run(root) {
    const above = [];
    for (let at = composedParent(root); at && at !== document.documentElement; at = composedParent(at)) above.unshift(at);
    for (const at of [document.scrollingElement, ...above]) if (at && (at.scrollTop || scrolledTo.has(at))) noteScroll(at);
    const look = above.reduce((outer, at) => lookInside(at, getComputedStyle(at), outer), rootLook());
    // Nodes to visit, each followed by its context, which is the same for all children of an element.
    /** @type {any[]} */
    const stack = [root, { look, cursor: above.length ? getComputedStyle(above.at(-1)).cursor : '', repeat: null }];
    let visited = 0;
    while (stack.length) {
      const outer = stack.pop(), node = stack.pop();
      if (!outer) node(); // the end of an element
      else if ((visited += 1) % 64 === 0 && this.lines.isFull()) {
        this.cut = true;
        break;
      } else if (node.nodeType === Node.TEXT_NODE) this.text(node, outer);
      else if (node.nodeType === Node.ELEMENT_NODE) this.element(node, outer, stack);
    }
    this.lines.flush();
    this.lines.all = this.splits.join(this.lines.all);
  }

  result() {
    const renamed = takeFingerprints(this.shown, this.refsBefore);
    markDifferences(this.shown);
    this.inks.appendColours();
    if (renamed.size) this.lines.rename(renamed);
    return {
      lines: this.lines.all, cut: this.cut, frames: this.frames.map((ref) => renamed.get(ref) ?? ref), title: document.title,
      url: location.href, type: document.contentType, consent: !!findConsent(), suspects: suspected.length,
    };
  }

  text(node, { element: parent, style, visible, look }) {
    if (this.used.has(node)) return;
    let raw = node.data;
    if (!raw || !HAS_WORDS.test(raw)) {
      if (raw) this.lines.space = true;
      return;
    }
    if (!visible) return;
    if (raw.length > MAX_TEXT_NODE_CHARS) raw = raw.slice(0, MAX_TEXT_NODE_CHARS) + '…';
    const text = squash(raw);
    this.range.selectNode(node);
    const rect = this.range.getBoundingClientRect();
    if (this.drawsIcon(node, text)) return;
    let hidden = textHidden(style, look, rect);
    const hasBox = rect.width > 0 || rect.height > 0 || this.range.getClientRects().length > 0;
    if (hidden === 'invisible' && (!hasBox || parent.closest('[aria-hidden=true]'))) return; // not even for screen readers
    if (!hidden) this.spaceByGap(rect);
    if (!hidden && this.isCovered(parent, rect, !look.turns, look.roll)) hidden = look.turns ? 'turned away' : 'covered';
    if (/^\s/.test(raw)) this.lines.space = true;
    if (raw.includes('\n') && style.whiteSpace.startsWith('pre')) this.preformatted(raw, hidden);
    else if (hidden || this.opened.length) this.lines.text(text, hidden);
    else this.inks.note(parent, style, this.lines.text(text, ''));
    if (/\s$/.test(raw)) this.lines.space = true;
  }

  // Words that a style sheet separates (by a margin or a generated separator) are not a single word.
  spaceByGap(rect) {
    const last = this.lastText;
    this.lastText = rect;
    if (!last || rect.top >= last.bottom || rect.bottom <= last.top) return;
    if (Math.max(rect.left - last.right, last.left - rect.right) > rect.height * MIN_GAP_SHARE) this.lines.space = true;
  }

  // An icon's name, which a font draws as a picture; it is left out if a control says more than that.
  drawsIcon(node, text) {
    if (!isIconName(node)) return false;
    const owner = this.opened.at(-1);
    if (owner && (owner.text !== text || attributeName(owner.element))) return true;
    this.lines.piece({ i: `icon ${text}`, drawn: `icon ${text}` });
    return true;
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

  element(element, outer, stack) {
    if (SKIPPED.has(element.tagName)) return;
    const style = getComputedStyle(element), { display } = style;
    if ((display === 'none' && element.tagName !== 'AREA') || style.contentVisibility === 'hidden') return;
    if (this.below && scrolledPast(element)) return;
    const { overflow, cursor } = style, visible = style.visibility === 'visible';
    const look = lookInside(element, style, outer.look, overflow);
    const inside = { element, style, look, display, visible, cursor, repeat: null };
    suspect(element, style);
    const role = roleOf(element);
    const block = element.tagName === 'BR' || (isBlock(display) && !this.isInCaption(outer));
    const leave = []; // functions to call when the element ends, in the order of opening
    if (block) this.boundary();
    this.front(element, leave);
    this.structure(element, role, outer, look, leave);
    if (block) leave.push(() => this.boundary());
    const scrolls = visible ? scrollsOf(element, overflow) : '';
    if (scrolls) {
      noteScroll(element);
      const ref = register(element);
      this.shown.push({ element, ref });
      this.lines.piece({ r: ref, k: 'scroller', a: scrolls });
      this.boundary();
    }
    const done = this.control(element, role, inside, outer, leave);
    for (const step of leave) stack.push(step, null);
    if (!done && !this.board(inside)) this.descend(inside, stack);
  }

  // Marks lines as belonging to a modal dialog or another layer over the whole window.
  front(element, leave) {
    const { lines } = this, before = lines.front;
    const level = isModal(element) ? 2 : Number(this.layers.has(element));
    if (level <= before) return;
    lines.flush();
    lines.front = level;
    leave.push(() => {
      lines.flush();
      lines.front = before;
    });
  }

  // Whether a parent that places its children side by side is, or is inside, a control with short text: the children form
  // one label.
  isInCaption({ display, style }) {
    const owner = this.opened.at(-1);
    return !!owner && owner.text.length <= MAX_BOX_TEXT_CHARS && /flex$/.test(display) && style.flexDirection.startsWith('row') && style.flexWrap === 'nowrap';
  }

  boundary() {
    if (this.inRow || this.inBox) this.lines.space = true;
    else this.lines.end();
  }

  // Headings, list items, rows and regions set the kind, depth and group of their lines.
  structure(element, role, { repeat }, look, leave) {
    const { lines } = this, tag = element.tagName;
    if (repeat && shapeOfChild(element) === repeat.shape) {
      const before = lines.group;
      lines.group = [repeat.id, (repeat.count += 1)];
      leave.push(() => { lines.group = before; });
    }
    if (role === 'heading') {
      this.boundary();
      lines.pending = 'h' + (Number(element.getAttribute('aria-level')) || Number(tag[1]) || 2);
      leave.push(() => { lines.pending = null; });
    } else if (tag === 'LI' || role === 'listitem' || role === 'treeitem') {
      if (!this.inRow) lines.pending = 'li';
    } else if (tag === 'UL' || tag === 'OL') {
      lines.depth += 1;
      leave.push(() => { lines.depth -= 1; });
    } else if ((tag === 'TR' || role === 'row') && !this.inRow && !isLayout(element.closest('table,[role=grid],[role=treegrid],[role=table]'))) {
      lines.end();
      lines.pending = element.querySelector('th,[role=columnheader]') && !element.querySelector('td,[role=cell],[role=gridcell]') ? 'th' : 'row';
      this.inRow = true;
      this.cells = 0;
      leave.push(() => {
        this.inRow = false;
        this.splits.note(element, lines.line, look);
        lines.end();
      });
    } else if (this.inRow) {
      if (!/^(TD|TH)$/.test(tag) && !/^(cell|gridcell|columnheader|rowheader)$/.test(role)) return;
      if (this.cells > 0) lines.piece({ c: 1 }); // an empty cell keeps its column
      this.cells += 1;
    } else if (REGIONS.has(role)) this.region(element, role, leave);
  }

  region(element, role, leave) {
    const name = regionName(element), { lines } = this;
    if (!name && !ALWAYS_SHOWN.has(role)) return;
    lines.flush();
    const mark = lines.all.length;
    lines.all.push({ d: lines.depth, k: 'region', p: [name], r: role, g: lines.group, m: lines.front });
    lines.depth += 1;
    leave.push(() => {
      lines.end();
      lines.depth -= 1;
      if (lines.all.length === mark + 1) lines.all.pop();
    });
  }

  // Returns true if the element's content must not be walked.
  control(element, role, { style, look, visible, cursor }, outer, leave) {
    const tag = element.tagName;
    if (tag === 'IFRAME' || tag === 'FRAME') return this.frame(element, look, visible);
    if (tag === 'IMG' || role === 'img') this.image(element, look);
    if (tag === 'svg') this.drawing(element, outer.look);
    let why = visible ? actionable(element, role, style, cursor, outer.cursor, this.delegated) : '';
    if (visible && !why && (this.hovered.has(element) || hoverable(element))) why = 'hover';
    if (!why) {
      if (visible && !look.gone && look.opacity > TRANSPARENT && EMPTY_BOX_TAGS.has(tag)) this.box(element, style, outer.look.back);
      if (tag !== 'PROGRESS' && tag !== 'METER') return tag === 'IMG' || (tag === 'OPTION' && !WIDGETS.has(role));
    }
    const said = CONTROLS_WITHOUT_CONTENT.has(tag) ? undefined : shortText(element, MAX_TEXT_COMPARED_CHARS), text = said && HAS_WORDS.test(said) ? said : '';
    const piece = this.describe(element, role, why, style, look, text);
    if (!piece) return CONTROLS_WITHOUT_CONTENT.has(tag);
    this.shown.push({ element, ref: piece.r, piece, name: this.named, style, said });
    if (!piece.x && typeof this.lines.line?.p.at(-1) === 'string') this.spaceByGap(element.getBoundingClientRect());
    this.lastText = null;
    this.lines.piece(piece);
    if (piece.open) {
      const inBox = BOX_ROLES.has(role) && text.length <= MAX_BOX_TEXT_CHARS;
      this.opened.push({ element, text });
      this.inBox += Number(inBox);
      leave.push(() => {
        this.inBox -= Number(inBox);
        this.opened.pop();
        if (this.lines.ends(piece)) this.nameUnseen(piece, element, role, style);
        else this.lines.close(piece.r);
      });
    }
    return CONTROLS_WITHOUT_CONTENT.has(tag) || !!(!piece.open && piece.n !== undefined && piece.whole);
  }

  // A control's piece; null if it is not a separate control. Also sets `named`, its name for comparison.
  describe(element, role, why, style, look, text) {
    const rect = element.getBoundingClientRect();
    if (why === 'widget' ? duplicatesCheckbox(element, role) : this.repeats(element, rect)) return null;
    const box = boxOfLabel(element);
    const piece = { r: register(element), k: role || (box && roleOf(box)) || ({ widget: '', hover: 'hoverable' }[why] ?? 'clickable') };
    const catches = isKeyCatcher(element); // it is not visible, but its editor is
    const value = catches ? '' : valueOf(element, role);
    const states = statesOf(box ?? element, box ? roleOf(box) : role).filter((state) => !catches || !state.endsWith('pixels'));
    if (value) piece.v = value.slice(0, MAX_VALUE_CHARS);
    if (!states.includes('disabled') && isSwitchedOff(element, role, style)) states.push('disabled');
    if (states.length) piece.s = states;
    const hidden = catches ? '' : this.controlHidden(element, role, look, rect);
    if (hidden === 'invisible' && (drawnByItsLabel(element) || drawnFor(element) || (element.tabIndex < 0 && element.closest('[aria-hidden=true]')))) return null;
    if (hidden) piece.x = hidden;
    if (role === 'link') piece.u = shortLink(element);
    if (element.tagName === 'SELECT') piece.o = optionTexts(element);
    const own = attributeName(element), name = own || (box ? attributeName(box) : '');
    if (role === 'treeitem') { // named by its own text, at any depth inside it
      const nodes = itemWords(element);
      nodes.forEach((node) => this.used.add(node));
      piece.n = joined(nodes) || name || shortText(element, MAX_NAME_COMPARED_CHARS);
      this.named = piece.n.slice(0, MAX_NAME_COMPARED_CHARS);
      return piece;
    }
    this.named = (name || text).slice(0, MAX_NAME_COMPARED_CHARS);
    if (text && !box && !takesText(element, role)) {
      if (name && !text.includes(name) && name.length <= 80) piece.l = name;
      if (piece.l && !(CAPTIONED.has(role) && /\p{L}/u.test(text)) && isLabelOnly(element)) this.labelOnly(piece, 'l');
      piece.open = true;
      return piece;
    }
    piece.n = (box && text) || name || fallbackName(element) || this.imageName(element);
    const seen = (box && text) || (name ? !isLabelOnly(name === own ? element : box) : piece.n === generatedText(element));
    if (piece.n && !seen) this.labelOnly(piece, 'n');
    if (!piece.n && piece.x === 'invisible' && !EDITABLE.has(role)) return null;
    const isCell = role === 'row' || (role === 'gridcell' && element.querySelector(INNER_CONTROLS));
    const rowTells = this.inRow && (BOX_ROLES.has(role) || role === 'columnheader' || isCell);
    if (!piece.n && !rowTells) {
      piece.a = catches ? 'editor' : this.looksOf(element, role, style);
      piece.u ||= addressOf(element);
    }
    piece.whole = (box && text) || (EDITABLE.has(role) && !MADE_OF_PARTS.has(role));
    return piece;
  }

  // Names a control by its attributes if its text exists but is not visible.
  nameUnseen(piece, element, role, style) {
    delete piece.open;
    delete piece.l;
    const name = attributeName(element) || fallbackName(element) || this.imageName(element);
    if (!name) piece.a = this.looksOf(element, role, style);
    else {
      piece.n = name;
      this.labelOnly(piece, 'n');
    }
  }

  labelOnly(piece, key) {
    piece[key] = cutLabel(piece[key]);
    addState(piece, LABEL_ONLY);
  }

  // Whether an element only wraps a control or repeats the one around it, and so is not a separate control.
  repeats(element, rect) {
    if (wrapsAnotherControl(element, rect) || (!shortText(element, 1) && isPartOfControl(element))) return true;
    const outer = this.opened.at(-1);
    const text = element.childElementCount || outer ? shortText(element, MAX_TEXT_COMPARED_CHARS) : '';
    if (text && outer?.text === text && isAloneIn(element, outer.element)) {
      spokenFor.add(outer.element);
      return true;
    }
    const item = text && composedParent(element)?.closest(ITEMS);
    return !!item && text === textOfItem(item);
  }

  board({ element, visible, look }) {
    if (element.childElementCount < MIN_BOARD_CHILDREN || element.childElementCount > MAX_BOARD_CHILDREN) return false;
    const first = element.firstElementChild;
    if (!visible || look.gone || this.isActed(first) || WIDGETS.has(roleOf(first))) return false;
    const rows = boardOf(element);
    for (const row of rows ?? []) this.lines.row(row);
    return !!rows;
  }

  isActed(element) {
    return this.delegated.has(element) || listensItself(element);
  }

  // Describes an element by its appearance, and by its position if others look the same.
  looksOf(element, role, style) {
    const looks = describe(element, EDITABLE.has(role) ? null : style);
    return !looks || hasTwin(element, style) ? [looks, placeOf(element)].filter(Boolean).join(' ') : looks;
  }

  drawing(svg, look) {
    const description = drawingOf(svg, (shape) => outward(shape, (at) => at === svg || this.isActed(at)) !== svg);
    if (!description || look.opacity <= TRANSPARENT) return;
    this.lines.picture(description);
    for (const letter of svg.querySelectorAll('text')) {
      if (description.includes(`text ${squash(letter.textContent)} `)) for (const node of textNodes(letter)) this.used.add(node);
    }
  }

  box(element, style, back) {
    if (refOf.has(element.parentElement)) return; // it is part of a control
    const description = boxOf(element, style, back);
    if (description) this.lines.picture(description);
  }

  imageName(element) {
    const image = [...element.querySelectorAll('img[alt],svg title,[aria-label],[title]')].find((one) => !WIDGETS.has(roleOf(one)));
    return image ? attributeName(image) || fallbackName(image) || squash(image.textContent) : '';
  }

  controlHidden(element, role, look, rect) {
    if (element.tagName === 'AREA') return ''; // it has no box of its own
    const hidden = hiddenByPosition(look, rect);
    if (hidden && !(hidden === 'invisible' && drawnByItsParent(element))) return hidden;
    const hit = (role === 'treeitem' && wordsBox(element)[0]) || rect;
    return this.isCovered(element, hit, false, look.roll) ? 'covered' : '';
  }

  image(element, look) {
    const name = attributeName(element) || fallbackName(element), rect = element.getBoundingClientRect();
    const owner = element.closest('a,button');
    if (owner && (!shortText(owner, 1) || shortText(owner, MAX_TEXT_COMPARED_CHARS).includes(name))) return; // it is the control's name
    const shown = name.slice(0, 150) || unlabelled(element, rect);
    if (shown && rect.width > 8 && !hiddenByPosition(look, rect)) this.lines.piece({ i: shown });
  }

  frame(element, look, visible) {
    const { width, height } = element.getBoundingClientRect(), { clientWidth, clientHeight } = element;
    if (Math.min(width, height) < 4 || Math.min(clientWidth, clientHeight) < 2 || !visible || look.opacity <= TRANSPARENT) return true;
    const ref = register(element);
    this.shown.push({ element, ref });
    this.lines.flush();
    this.lines.all.push({ d: this.lines.depth, k: 'frame', p: [cutLabel(attributeName(element) || squash(element.title) || element.name)], f: ref, m: this.lines.front });
    this.frames.push(ref);
    return true;
  }

  descend(inside, stack) {
    const { element } = inside, shape = repeatedShape(element);
    if (shape) inside.repeat = { shape, id: (this.groups += 1), count: 0 };
    const closed = element.tagName === 'DETAILS' && !element.open;
    const nodes = closed ? element.querySelectorAll(':scope > summary:first-of-type') : childrenOf(element);
    for (let at = nodes.length - 1; at >= 0; at -= 1) stack.push(nodes[at], inside);
  }
}

// Whether an element is a dialog in front of the page. Many menus claim to be modal: one that is not pinned to the window,
// or does not receive the pointer at its centre, is not modal.
const isModal = (element) => {
  if ((element.tagName === 'DIALOG' || element === document.fullscreenElement) && element.matches(':modal')) return true;
  if (element.ariaModal !== 'true' || !element.getClientRects().length || !isShownAtAll(element)) return false;
  const seen = cut(element.getBoundingClientRect(), { left: 0, top: 0, right: innerWidth, bottom: innerHeight });
  const width = seen.right - seen.left, height = seen.bottom - seen.top;
  const { x, y } = middleOf({ left: seen.left, top: seen.top, width, height }), hit = width > 0 && height > 0 ? deepHit(x, y) : null;
  return !!hit && isWithin(hit, element) && !!outward(element, (at) => getComputedStyle(at).position === 'fixed');
};

const MIN_BOTTOM_PX = -100; // `below` leaves out elements that end further above the view
const scrolledPast = (element) => {
  const { height, bottom } = element.getBoundingClientRect();
  return height > 0 && bottom < MIN_BOTTOM_PX;
};

const numberFrom = ({ prefix, start }) => {
  refPrefix = prefix;
  refCount = Math.max(refCount, start);
};

// Walks the document. `prefix` and `start` number new refs; it stops after `chars` characters or `ms` milliseconds. With
// `below` it starts at the scroll position.
const walk = (options) => {
  numberFrom(options);
  const root = document.body ?? document.documentElement;
  if (!root) return { lines: [], frames: [], count: refCount, title: '', url: location.href };
  const scrolled = scrollY > innerHeight / 2;
  const below = options.below && scrolled;
  const walked = new Walk({ ...options, below });
  walked.run(root);
  return { ...walked.result(), ...changesSince(), scrolled, below, count: refCount };
};

// Walks parts of a page that is too large to be walked completely: the parts that contain a string, or those around an
// element.
const walkParts = (options) => {
  numberFrom(options);
  const { found, whole } = options.element ? { found: rowsAround(options.element), whole: true } : partsHolding(options.text, performance.now() + options.ms);
  const walked = new Walk(options);
  for (const part of found) if (!walked.cut) walked.run(part);
  return { ...walked.result(), whole, count: refCount };
};

const MAX_ROWS_AROUND = 10;
const rowsAround = (element) => {
  const row = closestRow(element) ?? element;
  const siblings = [...(row.parentElement?.children ?? [row])];
  const at = siblings.indexOf(row);
  return siblings.slice(Math.max(0, at - MAX_ROWS_AROUND), at + MAX_ROWS_AROUND + 1);
};

// The rows or elements that contain a string literally, then those with all of its words; and whether there was time to
// search the entire page.
const MAX_PARTS = 12, MAX_PART_CHARS = 2000, CLOCK_CHECK_INTERVAL = 256;
const NAMED_ELEMENTS = 'input,textarea,[aria-label],[placeholder],[title],[alt]';
const partsHolding = (wanted, until) => {
  const needle = squash(wanted).toLowerCase(), words = needle.split(' ');
  const telling = words.reduce((best, word) => (/\d/.test(word) || word.length > best.length ? word : best), '');
  const exact = new Set(), byWords = new Set();
  const has = (element, text) => squash(element.textContent).toLowerCase().includes(text);
  const take = (element, said) => {
    if (!element || !said.toLowerCase().includes(telling) || !element.checkVisibility()) return;
    const row = closestRow(element), block = outward(element, (at) => isBlock(getComputedStyle(at).display));
    let part = row && row.textContent.length <= MAX_PART_CHARS ? row : element;
    if (block && block !== document.body && !has(part, needle) && has(block, needle)) part = block; // across an inline link
    const text = squash(part.textContent + ' ' + said).toLowerCase();
    if (text.includes(needle)) exact.add(part);
    else if (words.every((word) => text.includes(word))) byWords.add(part);
  };
  const sayings = function* () {
    for (const node of allTextNodes(document.body)) yield [node.parentElement ?? node.getRootNode().host, node.data];
    for (const element of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll(NAMED_ELEMENTS))) {
      const value = isField(element) && element.type !== 'password' ? element.value : '';
      yield [element, [attributeName(element), element.placeholder, element.title, value].filter(Boolean).join(' ')];
    }
  };
  let asked = 0, whole = true;
  for (const [element, said] of telling ? sayings() : []) {
    if (exact.size >= MAX_PARTS) break;
    whole = (asked += 1) % CLOCK_CHECK_INTERVAL !== 0 || performance.now() <= until;
    if (!whole) break;
    take(element, said);
  }
  return { found: [...exact, ...byWords].slice(0, MAX_PARTS), whole };
};
