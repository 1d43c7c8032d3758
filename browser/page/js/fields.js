// What a control takes and holds: its kind, its text, its options, whether it is on.
const fieldKind = (element) => {
  if (element.tagName === 'INPUT') return element.type;
  if (element.isContentEditable) return 'rich';
  const given = element.hasAttribute('tabindex') && !/^(TEXTAREA|SELECT|BUTTON|A)$/.test(element.tagName);
  if (given && element.getAttribute('role') === 'textbox') return 'editor'; // it draws its text itself
  return given ? 'keys' : element.tagName.toLowerCase();
};

const toTheEnd = (element) => {
  if (element.isContentEditable) {
    getSelection().selectAllChildren(element);
    getSelection().collapseToEnd();
  } else if (Number.isInteger(element.selectionEnd)) {
    element.setSelectionRange(element.value.length, element.value.length);
  }
};

// The place and label of the option that reads so: as a whole, by its value, else the one whose text holds
// it; null where none does.
const optionOf = ({ element, wanted }) => {
  const options = [...element.options];
  const same = (text) => squash(text).toLowerCase();
  const tests = [
    (option) => same(option.label) === same(wanted), (option) => option.value === wanted,
    (option) => same(option.label).includes(same(wanted)),
  ];
  for (const test of tests) {
    const found = options.filter(test);
    if (found.length === 1 || (found.length && test !== tests[2])) return [options.indexOf(found[0]), squash(found[0].label)];
  }
  return null;
};

// The list that a page draws in place of a select or field which nobody sees; null where there is none.
const DRAWN_LISTS = '[role=combobox],[role=listbox],[aria-haspopup]';
const drawnFor = (field) => {
  if (!/^(select|select-one|select-multiple|text)$/.test(field.type) || (sizeable(field) && field.checkVisibility({ opacityProperty: true, visibilityProperty: true }))) return null;
  for (let at = composedParent(field), level = 0; at && level < DRAWN_BESIDE; at = composedParent(at), level += 1) {
    if (at.querySelectorAll('select').length > 1) return null;
    const drawn = [at, ...at.querySelectorAll(DRAWN_LISTS)].find((one) => one !== field && one.matches(DRAWN_LISTS) && sizeable(one));
    if (drawn) return drawn;
  }
  return null;
};

// Hands a text to an editor as pasted, so that it adds no brackets and no indentation of its own; false
// where it does not listen for that.
const paste = ({ element, text }) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  return !element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true, composed: true }));
};

// Drops files, given as [name, base64], and data by MIME type, as if dragged in from outside; false where
// nothing can be dropped.
const drop = ({ element, files, data }) => {
  const dataTransfer = new DataTransfer();
  for (const [type, text] of Object.entries(data)) dataTransfer.setData(type, text);
  for (const [name, bytes] of files) dataTransfer.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
  const box = element.getBoundingClientRect();
  const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
  const tell = (kind) => element.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, composed: true, dataTransfer, ...at }));
  tell('dragenter');
  if (tell('dragover')) return false;
  tell('drop');
  return true;
};

// What HTML itself sends for an action on an element, or on what has the focus: `via` is click or keys; a
// phrase, or ''.
const effect = ({ element, via }) => {
  element ??= document.activeElement ?? document.body;
  const control = element.closest('button,input,[role=button],[role=menuitem],a,summary,textarea,[contenteditable]') ?? element;
  const form = control.form ?? control.closest('form');
  const tag = control.tagName, type = (control.getAttribute('type') ?? '').toLowerCase();
  const to = form?.action ? ` to ${form.getAttribute('action') || location.pathname}` : '';
  if (via === 'keys') {
    if (form && tag !== 'TEXTAREA' && tag !== 'BUTTON') return `submits a form${to}`;
    return control.isContentEditable || tag === 'TEXTAREA' ? 'may send what is written' : '';
  }
  if (type === 'file') return 'hands over a file';
  const submits = (tag === 'BUTTON' && /^(submit)?$/.test(type)) || (tag === 'INPUT' && /^(submit|image)$/.test(type));
  if (!form || !submits) return '';
  const name = squash(control.getAttribute('aria-label') || control.value || control.innerText).slice(0, 80);
  return `submits a form${to} (“${name}”)`;
};

// Whether a list that is drawn (a combobox, a select of a framework) is open: '' where it does not say.
const foldOf = (element) => {
  const said = (element.closest('[aria-expanded]') ?? element.querySelector('[aria-expanded]'))?.getAttribute('aria-expanded');
  return { true: 'expanded', false: 'collapsed' }[said] ?? '';
};

// Whether it is checked, pressed or selected: [true, 'checked'], ['mixed', 'checked']; null for what is neither.
const onOf = (control, role) => {
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

// What a list or a field reads, with what is drawn on a field in its place (its choice, its chips).
const READS = 2000; // characters; what holds more is no choice
const readOn = (element) => {
  if (element.textContent.length > READS && element.tagName !== 'SELECT') return '';
  if (element.tagName === 'SELECT') return [...element.selectedOptions].map((option) => squash(option.label)).join('; ');
  return squash(isField(element) ? `${element.value} ${wrapperOf(element)?.innerText ?? ''}` : element.innerText);
};

// What a control holds now: its kind; its text, null where that cannot be told (a terminal, a board); whether it
// is on, and so in spite of a further press (`stays`); what it `reads` as a list, and
// whether that is open (`fold`); `bare` when it is empty and takes what is typed.
const stateOf = (element) => {
  const control = element.control ?? element, role = roleOf(control);
  const readable = isField(element) || element.isContentEditable;
  const text = !readable ? null : isField(element) ? element.value : element.innerText;
  return {
    kind: fieldKind(element), role, text, on: onOf(control, role), stays: /^(radio|menuitemradio|tab|option)$/.test(role),
    reads: readOn(element), fold: foldOf(element),
    bare: text === '' && element.matches(':read-write:enabled'), secret: element.type === 'password', left: !element.isConnected,
  };
};

// What is typed into: the one field inside of what is none itself, as in a drawn combobox.
const TYPED_INTO = 'input:not([type=hidden],[type=checkbox],[type=radio]),textarea,[contenteditable=""],[contenteditable=true]';
const fieldIn = (element) => {
  const inner = isField(element) || element.isContentEditable ? [] : [...element.querySelectorAll(TYPED_INTO)];
  return inner.length === 1 && inner[0].matches(':read-write:enabled') ? inner[0] : element.control ?? element;
};

const focusedElement = () => {
  let at = document.activeElement;
  while (at && shadowOf(at)?.activeElement) at = shadowOf(at).activeElement;
  return at === document.body || at === document.documentElement ? null : at;
};

const hasFocus = (element) => {
  const focused = focusedElement();
  return !!focused && (isWithin(focused, element) || focused === element.control);
};

// Who hears the keys: a line, and whether that is the element that was asked for (if any was).
const focusOf = (element) => {
  const focused = focusedElement();
  return { line: focused ? line(focused) : '', right: !element || hasFocus(element) };
};
