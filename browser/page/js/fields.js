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

const isOn = (element) => {
  const control = element.control ?? element;
  return control.checked ?? control.getAttribute('aria-checked') === 'true';
};

// The option that reads so: as a whole, by its value, else the one whose text holds it; -1 where none does.
const optionIndex = ({ element, wanted }) => {
  const options = [...element.options];
  const same = (text) => squash(text).toLowerCase();
  const tests = [
    (option) => same(option.label) === same(wanted), (option) => option.value === wanted,
    (option) => same(option.label).includes(same(wanted)),
  ];
  for (const test of tests) {
    const found = options.filter(test);
    if (found.length === 1 || (found.length && test !== tests[2])) return options.indexOf(found[0]);
  }
  return -1;
};

// Hands a text to an editor as pasted, so that it adds no brackets and no indentation of its own; false
// where it does not listen for that.
const paste = ({ element, text }) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  return !element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true, composed: true }));
};

// Whether a list that is drawn (a combobox, a select of a framework) is open: '' where it does not say.
const foldState = (element) => {
  const said = (element.closest('[aria-expanded]') ?? element.querySelector('[aria-expanded]'))?.getAttribute('aria-expanded');
  return { true: 'expanded', false: 'collapsed' }[said] ?? '';
};

// A field's kind and what stands in it now: null where that cannot be told (a terminal, a board); `bare` when
// it is empty and takes what is typed.
const fieldText = (element) => {
  const readable = isField(element) || element.isContentEditable;
  const text = !readable ? null : isField(element) ? element.value : element.innerText;
  const bare = text === '' && element.matches(':read-write:enabled');
  return { kind: fieldKind(element), text, bare, secret: element.type === 'password', left: !element.isConnected };
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
