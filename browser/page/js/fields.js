// Controls: their kinds and states, the custom widgets drawn for them, and focus. Also finds and selects text.
const fieldKind = (element) => {
  if (isStepper(element)) return roleOf(element);
  if (element.tagName === 'INPUT') return element.type;
  if (isKeyCatcher(element)) return TERMINALS.test(stageOf(element).closest(TERMINAL_CLASS)?.className ?? '') ? 'keys' : 'editor';
  if (element.isContentEditable) return 'rich';
  if (element.matches(CELL) && (element.hasAttribute('tabindex') || isSheetCell(element))) return 'cell';
  const focusable = element.hasAttribute('tabindex') && !/^(TEXTAREA|SELECT|BUTTON|A)$/.test(element.tagName);
  if (focusable && element.getAttribute('role') === 'textbox') return 'editor'; // a code editor that renders its text itself
  return focusable ? 'keys' : element.tagName.toLowerCase();
};

// A slider or date part that is not a native field: arrow keys change it, and `aria-valuenow` is its value.
const isStepper = (element) => element.tagName !== 'INPUT' && /^(slider|spinbutton)$/.test(roleOf(element));

// An invisible textarea that only catches the keys for an editor or terminal that draws its own text
// (Ace, CodeMirror 5, xterm); the stage is the element that it draws on.
const MAX_LEVELS_TO_STAGE = 5, MIN_STAGE_SIZE = [60, 14]; // pixels
const TERMINAL_CLASS = '[class*=term i]', TERMINALS = /(^|[\s_-])x?term(inal)?([\s_-]|$)/i;
const stageOf = (element) => outward(composedParent(element), (at) => at.clientWidth >= MIN_STAGE_SIZE[0] && at.clientHeight >= MIN_STAGE_SIZE[1], MAX_LEVELS_TO_STAGE);
const EDITABLE_ELEMENT = '[contenteditable=""],[contenteditable=true]';
const isKeyCatcher = (element) => {
  if (element.tagName !== 'TEXTAREA' || !element.checkVisibility()) return false;
  const { right, bottom } = element.getBoundingClientRect(), { parentElement: holder } = element;
  const clipped = holder && !holder.clientHeight && HIDING_OVERFLOW.test(getComputedStyle(holder).overflowY);
  const unseen = clipped || !isShownAtAll(element) || !sizeable(element) || right + scrollX <= 0 || bottom + scrollY <= 0;
  const stage = unseen && stageOf(element);
  // A textarea next to an element that accepts text itself only serves the clipboard.
  return !!stage && ![...stage.querySelectorAll(EDITABLE_ELEMENT)].some(sizeable);
};

// The text that an editor draws, line by line as a user sees it. Lines far out of view may not be drawn.
const drawnText = (stage) => {
  const range = document.createRange(), parts = [];
  for (const node of textNodes(stage)) {
    const owner = node.parentElement;
    if (!node.data || !owner || isField(owner) || !isShownAtAll(owner)) continue;
    range.selectNodeContents(node);
    const { left, top, height } = range.getBoundingClientRect();
    if (height) parts.push({ left, top, height, text: node.data });
  }
  parts.sort((a, b) => (Math.abs(a.top - b.top) < Math.min(a.height, b.height) / 2 ? a.left - b.left : a.top - b.top));
  return parts.map(({ top, height, text }, at) => (at && top - parts[at - 1].top >= height / 2 ? '\n' : '') + text).join('');
};

// An invisible input that fills the custom control drawn for it (a switch, a tick): the pointer hits the input.
const drawnByItsParent = (element) => {
  if (!sizeable(element)) return false;
  if (element.role === 'combobox') return !!wrapperOf(element);
  return /^(checkbox|radio|range)$/.test(element.type) && fills(element, element.parentElement);
};

// The hidden control that a label represents; and whether a control has such a label.
const boxOfLabel = (element) => (element.tagName === 'LABEL' && drawsItsControl(element) ? element.control : null);
const drawnByItsLabel = (element) => /^(checkbox|radio|file)$/.test(element.type)
  && [...(element.labels ?? [])].some((label) => boxOfLabel(label) && sizeable(label) && !wrapsAnotherControl(label, label.getBoundingClientRect()));

// The custom list that a page shows instead of a hidden select or field; null if there is none.
const DRAWN_LISTS = '[role=combobox],[role=listbox],[aria-haspopup]';
const MAX_LEVELS_TO_DRAWN_LIST = 4; // up to the element that contains both
const drawnFor = (field) => {
  if (!/^(select|select-one|select-multiple|text)$/.test(field.type) || field.matches(DRAWN_LISTS) || (sizeable(field) && isShownAtAll(field))) return null;
  for (let at = composedParent(field), level = 0; at && level < MAX_LEVELS_TO_DRAWN_LIST; at = composedParent(at), level += 1) {
    if (at.querySelectorAll('select').length > 1) return null;
    const drawn = [at, ...at.querySelectorAll(DRAWN_LISTS)].find((one) => one !== field && one.matches(DRAWN_LISTS) && sizeable(one));
    if (drawn) return drawn;
  }
  return null;
};

// The field to type into: the only one inside a wrapper, such as a custom combobox, or else the element itself.
const TYPED_INTO = `input:not([type=hidden],[type=checkbox],[type=radio]),textarea,${EDITABLE_ELEMENT}`;
const fieldIn = (element) => {
  if (isField(element) || element.isContentEditable) return element;
  const inner = [...element.querySelectorAll(TYPED_INTO)].filter((one) => one.checkVisibility()); // a slider contains a hidden field
  if (inner.length === 1 && inner[0].matches(':read-write:enabled')) return inner[0];
  if (isSheetCell(element)) return element.closest(CELL);
  return element.control ?? catcherFor(element) ?? element;
};
// The key catcher of an editor, given an element that the editor draws.
const catcherFor = (element) => {
  const around = outward(element, (at) => at.querySelector('textarea'), MAX_LEVELS_TO_STAGE);
  const [catcher, ...more] = [...(around?.querySelectorAll('textarea') ?? [])].filter(isKeyCatcher);
  return catcher && !more.length && isWithin(element, stageOf(catcher)) ? catcher : null;
};

// Whether an element is in a sheet's cell: once selected, the cell receives the keys that the sheet's hidden textarea
// catches.
const CELL = 'td,[role=gridcell]';
const isSheetCell = (element) => {
  const cell = element.closest(CELL), catcher = cell && catcherFor(element);
  return !!catcher && !isWithin(catcher, cell);
};

// 'expanded' or 'collapsed' for a custom list (a combobox, a framework's select); '' if that is unknown.
const expandedState = (element) => {
  const said = (element.closest('[aria-expanded]') ?? element.querySelector('[aria-expanded]'))?.getAttribute('aria-expanded');
  return { true: 'expanded', false: 'collapsed' }[said] ?? '';
};

// Whether a control is checked, pressed or selected: [true, 'checked'], ['mixed', 'checked']; null if it cannot be.
const toggleState = (control, role) => {
  if (control.indeterminate) return ['mixed', 'checked'];
  if (/^(checkbox|radio)$/.test(control.type)) return [control.checked, 'checked'];
  if (control.tagName === 'OPTION') return [control.selected, 'selected'];
  const chosen = /^(tab|option)$/.test(role) && control.getClientRects().length ? ['selected'] : [];
  for (const word of ['checked', 'pressed', ...chosen]) {
    const said = { true: true, false: false, mixed: 'mixed' }[control.getAttribute(`aria-${word}`)];
    if (said !== undefined) return [said, word];
  }
  return null;
};

// The text that a list or field shows, with the content of the wrapper around it (the selected option, chips).
const MAX_SHOWN_TEXT_CHARS = 2000; // longer text is not a selected option
const shownText = (element) => {
  if (element.tagName === 'SELECT') return selectedLabels(element).join('; ');
  if (element.textContent.length > MAX_SHOWN_TEXT_CHARS) return '';
  if (isField(element)) return squash(`${element.value} ${wrapperOf(element)?.innerText ?? ''}`);
  return shadowOf(element) ? shortText(element, MAX_SHOWN_TEXT_CHARS) : squash(element.innerText);
};

const isOutOfSight = (field) => {
  const { right, bottom } = field.getBoundingClientRect();
  return !sizeable(field) || right + scrollX <= 0 || bottom + scrollY <= 0;
};

// The text around a field, without other fields: chips for the chosen options, each with its own button.
const besideText = (element) => {
  const around = isField(element) ? wrapperOf(element, FIELDS) : null;
  return around && around.textContent.length <= MAX_SHOWN_TEXT_CHARS ? squash(/** @type {HTMLElement} */ (around).innerText) : '';
};

// The only button next to a combobox, which opens its list; null if there is none.
const openerOf = (field) => {
  const buttons = [...(wrapperOf(field, FIELDS)?.querySelectorAll('button,[role=button]') ?? [])].filter(sizeable);
  return buttons.length === 1 ? buttons[0] : null;
};

// Whether a string fills a row of one-character fields that starts at an element, as a code of several digits does.
const isSpreadOver = ({ element, text }) => {
  const fields = [...element.getRootNode().querySelectorAll('input')].filter((one) => sizeable(one) && one.type === element.type);
  const values = fields.slice(fields.indexOf(element)).slice(0, text.length).map((one) => one.value);
  return text.length > 1 && values.every((value) => value.length === 1) && values.join('') === text;
};

// A control's state: `kind`; `text`, null if it cannot be read (a terminal, a game); `drawn`, the text that an editor or
// terminal draws itself, or else null; `number`, a slider's value, with its bounds `least` and `most`; `on`, and `stays` if
// a second click does not turn it off; the text it `reads` as a list, and whether that is open (`fold`); `bare` if it is
// empty and editable; `secret` for a password; `left` if it is no longer in the document; `unseen` for a field that has no
// size or is off the page.
const stateOf = (element) => {
  const control = element.control ?? element, role = roleOf(control);
  const kind = fieldKind(element);
  const stage = kind === 'editor' || isKeyCatcher(element) ? stageOf(element) : null;
  const text = stage ? null : isField(element) ? element.value : element.isContentEditable ? element.innerText : null;
  const [number, least, most] = ['now', 'min', 'max'].map((name) => element.getAttribute(`aria-value${name}`)).map((said) => (said && Number.isFinite(Number(said)) ? Number(said) : null));
  return {
    kind, role, text, drawn: stage && drawnText(stage), number, least, most, on: toggleState(control, role), stays: /^(radio|menuitemradio|tab|option)$/.test(role),
    reads: shownText(element), beside: besideText(element), fold: expandedState(element),
    bare: text === '' && element.matches(':read-write:enabled'), secret: element.type === 'password', left: !element.isConnected, unseen: isField(element) && !stage && isOutOfSight(element),
  };
};

// The index and label of the option with this text or value, or else of the only option that contains the text; null if
// there is none.
const optionOf = ({ element, wanted }) => {
  const options = [...element.options], text = squash(wanted).toLowerCase();
  const label = (option) => squash(option.label).toLowerCase();
  const exact = options.find((option) => label(option) === text) ?? options.find((option) => option.value === wanted);
  const holding = exact ? [exact] : options.filter((option) => label(option).includes(text));
  return holding.length === 1 ? [options.indexOf(holding[0]), squash(holding[0].label)] : null;
};

const toTheEnd = (element) => {
  if (element.isContentEditable) {
    getSelection().selectAllChildren(element);
    getSelection().collapseToEnd();
  } else if (Number.isInteger(element.selectionEnd)) {
    element.setSelectionRange(element.value.length, element.value.length);
  }
};

// Pastes text into an editor, so that the editor adds no brackets or indentation; false if it does not handle pasting.
const paste = ({ element, text }) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  return !element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true, composed: true }));
};

// Drops files ([name, base64]) and data by MIME type, as if dragged from outside; false if nothing can be dropped.
const drop = ({ element, files, data }) => {
  const dataTransfer = new DataTransfer();
  for (const [type, text] of Object.entries(data)) dataTransfer.setData(type, text);
  for (const [name, bytes] of files) dataTransfer.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
  const { x, y } = middleOf(element.getBoundingClientRect());
  const dispatch = (kind) => element.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, composed: true, dataTransfer, clientX: x, clientY: y }));
  dispatch('dragenter');
  if (dispatch('dragover')) return false;
  dispatch('drop');
  return true;
};

// Whether clicking a control, or pressing Enter in it, sends a password field's value. In a form, the HTML determines this.
// Without a form, Enter in the field sends it, and so does a click on the first named button after it, if no other password
// field comes first.
const NAMED_BUTTON = 'button,input[type=button],input[type=submit],[role=button]';
const sendsPassword = (field, control, via) => {
  const isButton = /^(submit|image)$/.test(control.type);
  if (field.form) return control.form === field.form && (isButton || (via === 'keys' && control.tagName === 'INPUT'));
  if (via === 'keys') return control === field;
  if (control.form || control.closest('form')) return false;
  const follows = (one) => field.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING;
  const behind = [...field.getRootNode().querySelectorAll(`${NAMED_BUTTON},input[type=password]`)].filter((one) => follows(one) && sizeable(one));
  return behind.find((one) => one.type === 'password' || squash(one.innerText || one.value)) === control && control.type !== 'password';
};

// The password field that a stored secret was typed into. A click or key press submits it, and nothing else, if it acts on
// the field's form or button and the form goes to the page's own origin.
let secretField = null; // WeakRef
const secretTyped = (element) => { secretField = new WeakRef(element); };
const sentTo = (form, control) => new URL(control?.getAttribute('formaction') ?? Element.prototype.getAttribute.call(form, 'action') ?? '', document.baseURI).origin;
const submitsLogin = ({ element, via }) => {
  const field = secretField?.deref(), control = element ?? focusedElement();
  if (!field?.isConnected || !field.value || !control || !sendsPassword(field, control, via)) return false;
  return !field.form || sentTo(field.form, /^(submit|image)$/.test(control.type) ? control : null) === location.origin;
};
// Whether Enter in a password field sends its form to another origin.
const sendsAway = (element) => !!element.form && sentTo(element.form, element.form.querySelector('[type=submit],button:not([type])')) !== location.origin;

// The user name in the field before the only password field, if acting on a control sends both, or else ''.
const NAME_FIELD = 'input:not([type]),input[type=text],input[type=email],input[type=tel]';
const nameSent = (control, via) => {
  const root = control.getRootNode(), [field, other] = [...root.querySelectorAll('input[type=password]')].filter(sizeable);
  if (other || !field?.value || !sendsPassword(field, control, via)) return '';
  const before = [...(field.form ?? root).querySelectorAll(NAME_FIELD)]
    .filter((one) => sizeable(one) && one.compareDocumentPosition(field) & Node.DOCUMENT_POSITION_FOLLOWING);
  return before.length === 1 ? squash(before[0].value).slice(0, 80) : '';
};

// Describes what is sent, according to the HTML, when the element or the focused one is clicked or receives Enter; '' if
// nothing is sent.
const effect = ({ element, via }) => {
  const acted = element ?? document.activeElement ?? document.body;
  const control = acted.closest('button,input,[role=button],[role=menuitem],a,summary,textarea,[contenteditable]') ?? acted;
  const form = control.form ?? control.closest('form');
  const tag = control.tagName, type = (control.getAttribute('type') ?? '').toLowerCase();
  const to = form?.action ? ` to ${form.getAttribute('action') || location.pathname}` : '';
  const who = nameSent(control, via), login = who ? `“${who}” and the password` : '';
  if (via === 'keys') {
    if (form && tag !== 'TEXTAREA' && tag !== 'BUTTON') return `submits a form${to}${login && ` with ${login}`}`;
    if (login) return `sends ${login}`;
    return control.isContentEditable || tag === 'TEXTAREA' ? 'may send the text' : '';
  }
  if (type === 'file') return 'uploads a file';
  const submits = (tag === 'BUTTON' && /^(submit)?$/.test(type)) || (tag === 'INPUT' && /^(submit|image)$/.test(type));
  if (!form || !submits) return login && `sends ${login}`;
  const name = squash(control.getAttribute('aria-label') || control.value || control.innerText).slice(0, 80);
  return `submits a form${to} (“${name}”)${login && ` with ${login}`}`;
};

const focusedElement = () => {
  let at = document.activeElement;
  while (at && shadowOf(at)?.activeElement) at = shadowOf(at).activeElement;
  return at === document.body || at === document.documentElement ? null : at;
};
// The field that a cell opened in or over itself when a key was typed, or else the element itself.
const openedIn = (element) => {
  const focused = /** @type {any} */ (focusedElement());
  if (!focused || focused === element || !(isField(focused) || focused.isContentEditable)) return element;
  const { x, y } = middleOf(element.getBoundingClientRect()), { left, right, top, bottom } = focused.getBoundingClientRect();
  const over = left <= x && x <= right && top <= y && y <= bottom;
  return over || isWithin(focused, element) ? focused : element;
};
// The field that replaced another one when that received the focus, as in inputs for formatted numbers; null if there is
// none.
const swappedFor = (element) => {
  const focused = element.getClientRects().length ? null : focusedElement();
  return isField(focused) && focused.parentElement === element.parentElement ? focused : null;
};
// The focused element: `line` describes it; `right` is whether it is the expected element; `off` is the reason why keys must
// not activate it or, if the focus is elsewhere, the expected element (typing into a field is still allowed).
const focusOf = (element) => {
  const focused = focusedElement();
  const right = !element || (!!focused && (isWithin(focused, element) || focused === element.control));
  const pressed = right ? focused : element;
  const off = pressed && !(isField(pressed) || pressed.isContentEditable) ? offReason(pressed) : '';
  return { line: focused ? lineOf(focused) : '', right, off };
};

// The range of a string, across nodes and white space. Editable text is searched first, because instructions often repeat
// the string. An editor that renders its own text does so next to the element with the focus.
const rangeIn = (text, element) => {
  const stage = element && fieldKind(element) === 'editor' ? stageOf(element) : null;
  const roots = element ? [stage ?? element] : [...document.querySelectorAll('[contenteditable]:not([contenteditable=false])'), document.body];
  for (const root of roots) {
    const range = sizeable(root) || root === document.body ? rangeOf(text, root) : null;
    if (range) return range;
  }
  return null;
};

const rangeOf = (wanted, root) => {
  const needle = wanted.replace(/\s+/g, '');
  if (!needle) return null;
  const characters = []; // [node, offset] of all non-space characters
  let text = '';
  for (const node of textNodes(root)) {
    for (let at = 0; at < node.length; at += 1) {
      if (/\s/.test(node.data[at])) continue;
      text += node.data[at];
      characters.push([node, at]);
    }
  }
  let at = text.indexOf(needle);
  if (at < 0) at = text.toLowerCase().indexOf(needle.toLowerCase());
  if (at < 0) return null;
  const range = document.createRange();
  const [begin, first] = characters[at], [end, last] = characters[at + needle.length - 1];
  range.setStart(begin, first);
  range.setEnd(end, last + 1);
  return range;
};

// The points in the frame's viewport between which the pointer selects a string; null if the string is not found.
const textEnds = ({ text, element }) => {
  const isEditor = !!element && fieldKind(element) === 'editor';
  if (isField(element) && !isEditor) {
    if (!element.value.includes(text)) return null;
    const box = element.getBoundingClientRect();
    const middle = [box.left + box.width / 2, box.top + Math.min(box.height / 2, 12)];
    return { start: middle, end: middle, is_editor: false };
  }
  const range = rangeIn(text, element);
  if (!range) return null;
  range.startContainer.parentElement.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
  if (!boxes.length) return null;
  const first = boxes[0], last = boxes.at(-1);
  return { start: [first.left, first.top + first.height / 2], end: [last.right, last.top + last.height / 2], is_editor: isEditor };
};

// Sets the selection if the pointer selected something else.
const selectText = ({ text, element }) => {
  if (element && fieldKind(element) === 'editor') return; // it manages its own selection
  if (isField(element)) {
    const at = element.value.indexOf(text);
    element.focus();
    element.setSelectionRange(at, at + text.length);
    return;
  }
  const selection = getSelection();
  const bare = (words) => words.replace(/\s+/g, '').toLowerCase();
  const range = bare(selection.toString()) === bare(text) ? null : rangeIn(text, element);
  if (!range) return;
  selection.removeAllRanges();
  selection.addRange(range);
};

// Whether a string contains another; only whole numbers match: 12 is not in 1234.
const standsIn = (said, text) => {
  const cutsNumber = (before, after) => /\d\d/.test(`${before}${after}`);
  for (let at = said.indexOf(text); at >= 0; at = said.indexOf(text, at + 1)) {
    if (!cutsNumber(said[at - 1], text[0]) && !cutsNumber(text.at(-1), said[at + text.length])) return true;
  }
  return false;
};

// Refs for the smallest elements that contain a string and have no ref, each with the row around it.
const MAX_TEXT_REFS = 8, MAX_LABEL_CHARS = 40;
const refsOfText = (wanted) => {
  const needle = squash(wanted).toLowerCase(), found = [];
  for (const node of needle ? allTextNodes(document.body) : []) {
    if (node.length < needle.length) continue;
    const element = node.parentElement ?? node.getRootNode().host;
    const said = squash(node.data).toLowerCase();
    if (said.length > Math.max(MAX_LABEL_CHARS, 2 * needle.length) || !standsIn(said, needle) || !element?.getClientRects().length) continue;
    if (element.closest('a,button,input,select,textarea') || refOf.has(element)) continue;
    found.push([register(element), squash(node.data).slice(0, 80), shortText(composedParent(element) ?? element, 80)]);
    if (found.length === MAX_TEXT_REFS) break;
  }
  return found.length || !needle ? found : refsAcrossNodes(needle);
};

// The same for text that is split into several nodes, as frameworks render it: `{label}: {value}`.
const refsAcrossNodes = (needle) => {
  const { commonAncestorContainer: at } = rangeOf(needle, document.body) ?? {};
  const element = at instanceof Element ? at : null, said = element ? squash(element.textContent) : '';
  const isShort = said.length <= Math.max(MAX_LABEL_CHARS, 2 * needle.length) && standsIn(said.toLowerCase(), needle);
  if (!element || !isShort || !sizeable(element) || element.closest('a,button,input,select,textarea') || refOf.has(element)) return [];
  return [[register(element), said.slice(0, 80), shortText(composedParent(element) ?? element, 80)]];
};
