// Collects lines of pieces during a walk; also contains the walk's functions for single elements.

// A line is { d depth, k kind, p pieces, g [repeater, item], m in front }; a region also has r (its role), a frame f (its ref).
// A piece is a string, or an object with one of: t hidden text, i image, c border of two cells, r ref of a control,
// e end of a control that is `open`. Also: w space before it, x why it cannot be seen; for a control, k role, n name,
// l label in addition to its content, a looks, v value, u link, s states, o options. `browser/page/lines.py` reads them.
class Lines {
  constructor(limits) {
    this.limits = limits; // { chars, until }
    this.all = [];
    this.line = null;
    this.chars = 0;
    this.pending = null; // kind of the next line: heading level, list item, row
    this.space = false;
    this.depth = 0;
    this.group = null;
    this.front = 0; // 2 inside a modal dialog, 1 inside another layer over the whole window
  }
  open() {
    if (this.line && this.pending) this.line.k = this.pending;
    this.line ??= { d: this.depth, k: this.pending ?? 'p', p: [], g: this.group, m: this.front };
    this.pending = null;
    return this.line;
  }
  // Returns the position of the text: { pieces, at, end }.
  text(text, hidden) {
    const { p: pieces } = this.open();
    const last = pieces.at(-1), lead = this.space && pieces.length ? ' ' : '';
    if (typeof last === 'string' && !hidden) pieces[pieces.length - 1] = last + lead + text;
    else pieces.push(hidden ? { t: text, x: hidden, w: lead } : lead + text);
    this.chars += text.length;
    this.space = false;
    return { pieces, at: pieces.length - 1, end: pieces.at(-1).length };
  }
  piece(piece) {
    const line = this.open();
    if (this.space && line.p.length) piece.w = ' ';
    line.p.push(piece);
    this.chars += 24 + (piece.n?.length ?? 0);
    this.space = false;
  }
  // Whether a control is the last piece so far, i.e. none of its content was shown.
  ends(piece) {
    return (this.line ?? this.all.at(-1))?.p.at(-1) === piece;
  }
  // Closes a control; if all its content is on the previous line, its end goes there.
  close(ref) {
    const line = this.line ?? this.all.at(-1);
    if (line?.p.some((piece) => piece.open && piece.r === ref)) line.p.push({ e: ref });
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
  // Adds a drawing's description; repetitions directly after it are counted.
  picture(description) {
    const before = this.line?.p.length ? this.line.p.at(-1) : this.all.at(-1)?.p.length === 1 ? this.all.at(-1).p[0] : null;
    if (before?.drawn === description) before.i = `${before.times = (before.times ?? 1) + 1} × ${description}`;
    else this.piece({ i: description, drawn: description });
  }
  // A line that has only opened a control so far continues with the control's first text.
  end() {
    if (!this.line?.p.length || !this.line.p.every((piece) => piece.open)) this.flush();
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
  isFull() {
    return this.chars > this.limits.chars || performance.now() > this.limits.until;
  }
}

// Whether a control has a value instead of content; a custom select shows its value as its text.
const takesText = (element, role) => EDITABLE.has(role) && !(role === 'combobox' && element.tagName !== 'INPUT' && !element.isContentEditable);

// Whether an element has no box of its own, or only repeats the control in it, which then represents both.
const MAX_FIELD_PARTS = 4;
const ITEMS = 'button,' + ['button', 'tab', 'option', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'treeitem'].map((role) => `[role=${role}]`).join();
const wrapsAnotherControl = (element, rect) => {
  const shadow = shadowOf(element);
  if (!element.childElementCount && !shadow) return false;
  if (rect.width < 2 || rect.height < 2) return true;
  const item = (shadow ?? element).querySelector(ITEMS); // a tab with its own close button
  if (item && fills(item, element) && isSameText(item, element)) return true;
  const inner = [...(shadow ?? element).querySelectorAll(INNER_CONTROLS)].filter((one) => !one.querySelector(INNER_CONTROLS));
  if (!inner.length || inner.length > MAX_FIELD_PARTS || inner[0].type === 'file') return false;
  if (inner.length === 1 && sizeable(inner[0]) && shortText(inner[0], MAX_TEXT_COMPARED_CHARS) === shortText(element, MAX_TEXT_COMPARED_CHARS)) return true;
  return wrapsField(element, inner.filter((one) => !one.closest('[aria-hidden=true]')));
};

const isSameText = (one, other) => {
  const text = shortText(one, MAX_TEXT_COMPARED_CHARS);
  return text !== '' && text === shortText(other, MAX_TEXT_COMPARED_CHARS);
};

// Whether an element only wraps a field with its arrow and clear button and has no text of its own.
const wrapsField = (element, inner) => {
  const [field, ...more] = inner.filter((one) => EDITABLE.has(roleOf(one)));
  if (!field || more.length || element.offsetHeight > MAX_WRAPPER_HEIGHT_PX || !sizeable(field)) return false;
  if (isWithin(element, wrapperOf(field))) return true;
  const said = [...inner.map((one) => squash(one.textContent)), attributeName(field)].filter(Boolean);
  return !/[\p{L}\p{N}]/u.test(said.reduce((text, part) => text.replaceAll(part, ''), squash(element.textContent)));
};

// A custom checkbox around a native one is not a second control.
const duplicatesCheckbox = (element, role) => {
  const inner = BOX_ROLES.has(role) ? element.querySelectorAll('input') : [];
  return inner.length === 1 && BOX_ROLES.has(roleOf(inner[0])) && fills(inner[0], element);
};

// Whether an element has no visible siblings on all levels up to an ancestor.
const isAloneIn = (element, outer) => {
  const isAlone = (one) => [...one.parentNode.children].every((other) => other === one || other.ariaHidden === 'true' || [...other.getClientRects()].every((box) => !box.width || !box.height));
  return outward(element, (at) => at === outer || !composedParent(at) || !isAlone(at)) === outer;
};

// An element without a name that fills a control is the control's handle; a sibling of an invisible input is the drawing of that
// input.
const isPartOfControl = (element) => {
  const outer = composedParent(element);
  if ([...(outer?.children ?? [])].some((other) => other !== element && other.tagName === 'INPUT' && drawnByItsParent(other))) return true;
  return !!outer && refOf.has(outer) && WIDGETS.has(roleOf(outer)) && fills(element, outer) && !attributeName(element);
};

// The text nodes of a tree item, tab or other item, without those of the items and controls inside it.
const MAX_ITEM_CHARS = 200;
const itemWords = (item) => {
  const found = [];
  let length = 0;
  for (const node of textNodes(item)) {
    const owner = node.parentElement?.closest(`${INNER_CONTROLS},${ITEMS},[role=group]`);
    if (owner !== item || !/[\p{L}\p{N}]/u.test(node.data) || isIconName(node)) continue; // an arrow is not a name
    found.push(node);
    if ((length += node.data.length) > MAX_ITEM_CHARS) break;
  }
  return found;
};

const joined = (nodes) => squash(nodes.map((node) => node.data).join(' '));
const textOfItem = (item) => joined(itemWords(item));

const MAX_OPTIONS = 300;
const optionTexts = (select) => {
  const isListed = (option) => [option, option.parentElement].every((one) => getComputedStyle(one).display !== 'none' || one.tagName === 'SELECT');
  return [...select.options].filter(isListed).slice(0, MAX_OPTIONS).map((option) => squash(option.label || option.text));
};

// The shape (tag and class) of children that are repeated rows; '' if there are none.
const MIN_REPEATS = 6, MAX_CHILDREN_COMPARED = 60;
const shapeOfChild = (child) => child.tagName + '.' + (child.classList[0] ?? '');
const repeatedShape = (element) => {
  if (element.childElementCount < MIN_REPEATS) return '';
  const children = [];
  for (let child = element.firstElementChild; child && children.length < MAX_CHILDREN_COMPARED; child = child.nextElementSibling) children.push(child);
  const [shape, count] = countBy(children, shapeOfChild)[0];
  return count >= MIN_REPEATS ? shape : '';
};

const shortLink = (element) => {
  const href = element.getAttribute('href') ?? '';
  if (!href || /^(javascript:|#|data:|blob:)/i.test(href)) return href.startsWith('#') ? href.slice(0, 40) : '';
  try {
    const whole = typeof element.href === 'string' ? element.href : new URL(href, document.baseURI).href; // a link already has its full address
    if (!/^https?:/.test(whole)) return new URL(whole).protocol;
    return URL.canParse(whole) ? whole : '';
  } catch {
    return '';
  }
};

// An address that describes a nameless control: that of its form, or the script that it runs.
const MAX_ADDRESS_CHARS = 60;
const addressOf = (element) => {
  const { form } = element, written = element.getAttribute('formaction') ?? (form && element.type === 'submit' ? form.getAttribute('action') : '');
  if (written) return new URL(written, document.baseURI).href;
  const code = element.getAttribute('onclick') ?? /^javascript:(.*)/is.exec(element.getAttribute('href') ?? '')?.[1] ?? '';
  const call = /[a-z$_][\w$.]*\([^)]*\)/i.exec(code)?.[0] ?? '';
  return call.startsWith('void') ? '' : call && 'javascript:' + call.slice(0, MAX_ADDRESS_CHARS);
};

// A picture without alternative text that may be content: it is large, and not marked as decorative (alt="").
const MIN_PICTURE_PX = 150; // pixels in both directions
const unlabelled = (image, rect) => {
  if (image.tagName !== 'IMG' || image.hasAttribute('alt') || Math.min(rect.width, rect.height) < MIN_PICTURE_PX) return '';
  const file = /^(?!data:|blob:).*?([^/?#]{1,40})(?:[?#].*)?$/.exec(image.currentSrc || image.src)?.[1] ?? '';
  return `${file} ${sizeOf(rect)}, without a description`.trim();
};
