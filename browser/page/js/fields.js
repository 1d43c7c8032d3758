// What a control takes: its kind, its options, whether it is on, and where its text ends.
const fieldKind = (element) => {
  if (element.tagName === 'INPUT') return element.type;
  if (element.isContentEditable) return 'rich';
  const given = element.hasAttribute('tabindex') && !/^(TEXTAREA|SELECT|BUTTON|A)$/.test(element.tagName);
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
