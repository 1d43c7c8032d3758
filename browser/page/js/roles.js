// Roles, names, states and values, following HTML-AAM and the accessible name computation as far as a snapshot needs.
const INPUT_ROLES = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox',
  radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file',
  color: 'colour', date: 'date', 'datetime-local': 'datetime', month: 'month', week: 'week', time: 'time',
};
const TAG_ROLES = {
  A: (e) => (e.hasAttribute('href') ? 'link' : ''), AREA: (e) => (e.hasAttribute('href') ? 'link' : ''),
  BUTTON: () => 'button', SELECT: () => 'select',
  TEXTAREA: () => 'textbox', SUMMARY: () => 'summary', OPTION: () => 'option',
  INPUT: (e) => (e.type === 'hidden' ? '' : INPUT_ROLES[e.type] ?? 'textbox'),
  NAV: () => 'navigation', MAIN: () => 'main', ASIDE: () => 'complementary', DIALOG: () => 'dialog',
  HEADER: (e) => (e.closest('article,section,main,aside,nav') ? '' : 'banner'),
  FOOTER: (e) => (e.closest('article,section,main,aside,nav') ? '' : 'contentinfo'),
  FORM: (e) => (e.hasAttribute('aria-label') || e.hasAttribute('name') || e.id ? 'form' : ''),
  TABLE: () => 'table', CANVAS: () => 'canvas', VIDEO: () => 'video', AUDIO: () => 'audio',
  PROGRESS: () => 'progressbar', METER: () => 'meter', SEARCH: () => 'search',
};
const REGIONS = new Set([
  'navigation', 'main', 'complementary', 'banner', 'contentinfo', 'dialog', 'alertdialog', 'form',
  'region', 'search', 'tablist', 'tabpanel', 'menu', 'menubar', 'listbox', 'tree', 'grid', 'treegrid',
  'alert', 'status', 'toolbar', 'radiogroup', 'group',
]);
// Regions that get their own line even without a name.
const ALWAYS_SHOWN = new Set(['navigation', 'main', 'complementary', 'banner', 'contentinfo', 'dialog', 'alertdialog', 'alert', 'search']);
const WIDGETS = new Set([
  'button', 'link', 'checkbox', 'radio', 'switch', 'slider', 'spinbutton', 'textbox', 'searchbox',
  'combobox', 'option', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'tab', 'treeitem',
  'gridcell', 'select', 'summary', 'file', 'colour', 'date', 'datetime', 'month', 'week', 'time', 'canvas',
  'video', 'audio', 'scrollbar',
]);
const EDITABLE = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton', 'slider', 'date', 'datetime',
  'month', 'week', 'time', 'colour', 'file', 'select', 'listbox']);
const BOX_ROLES = new Set(['checkbox', 'radio', 'switch']);

const roleOf = (element) => {
  const explicit = element.getAttribute('role')?.trim().split(/\s+/)[0].toLowerCase();
  if (explicit && explicit !== 'presentation' && explicit !== 'none' && explicit !== 'generic') return explicit;
  const tag = element.tagName, native = TAG_ROLES[tag]?.(element);
  if (native) return native;
  if (/^H[1-6]$/.test(tag)) return 'heading';
  if (element.isContentEditable && !element.parentElement?.isContentEditable) return 'textbox';
  return tag === 'SECTION' && (element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby')) ? 'region' : '';
};

const isField = (element) => /^(INPUT|TEXTAREA)$/.test(element?.tagName);

// Whether a word is the name of an icon, which a font draws as one square picture: the browser then gives each letter an
// equal part of it.
const MAX_ICON_NAME_CHARS = 40;
const isIconName = (node) => {
  const text = node.length > 2 * MAX_ICON_NAME_CHARS ? '' : squash(node.data);
  if (text.length > MAX_ICON_NAME_CHARS || !/^[a-z]\w{2,}$/.test(text) || !node.parentElement) return false;
  const range = document.createRange(), size = parseFloat(getComputedStyle(node.parentElement).fontSize);
  range.selectNode(node);
  const { width } = range.getBoundingClientRect(), start = node.data.indexOf(text);
  if (Math.abs(width - size) > size / 10) return false;
  return [...text].every((_, at) => {
    range.setStart(node, start + at);
    range.setEnd(node, start + at + 1);
    return Math.abs(range.getBoundingClientRect().width - width / text.length) < 0.1;
  });
};
const wordsOf = (nodes) => [...nodes].filter((node) => !isIconName(node)).map((node) => node.data).join('');

const labelText = (element) => {
  const words = (label) => wordsOf([...textNodes(label)].filter((node) => !node.parentElement?.closest('select,textarea')));
  return squash([...(element.labels ?? [])].map(words).join(' '));
};
const hintOf = (element) => squash(element.getAttribute('placeholder') ?? element.getAttribute('aria-placeholder') ?? '');

// The name from attributes and labels, and the elements that show it. The walk adds the text inside the element.
const nameAndPlaces = (element) => {
  const named = (element.getAttribute('aria-labelledby') ?? '').split(/\s+/).map((id) => element.getRootNode().getElementById?.(id));
  const text = squash(named.map((one) => (one ? wordsOf(textNodes(one)) : '')).join(' '));
  if (text) return [text, named];
  const label = squash(element.getAttribute('aria-label'));
  if (label) return [label, []];
  const tag = element.tagName;
  if (/^(INPUT|SELECT|TEXTAREA|METER|PROGRESS|BUTTON)$/.test(tag)) {
    const labels = labelText(element);
    if (labels) return [labels, [...element.labels]];
  }
  if (tag === 'INPUT' && /^(button|submit|reset)$/.test(element.type)) return [squash(element.value) || (element.type === 'button' ? '' : element.type), [element]];
  if (tag === 'IMG' || tag === 'AREA' || (tag === 'INPUT' && element.type === 'image')) return [squash(element.getAttribute('alt')), []];
  if (tag === 'FIELDSET') {
    const legend = element.querySelector(':scope > legend');
    return [squash(legend?.textContent), [legend]];
  }
  return [hintOf(element), element.value ? [] : [element]];
};
const attributeName = (element) => nameAndPlaces(element)[0];

// An invisible name is marked as such and shortened: of 491 such names on 250 saved pages, 19 are longer.
const LABEL_ONLY = 'label only', MAX_LABEL_ONLY_CHARS = 60;
const MAX_TEXT_COMPARED_CHARS = 400;
const cutLabel = (name) => (name.length > MAX_LABEL_ONLY_CHARS ? `${name.slice(0, MAX_LABEL_ONLY_CHARS).trimEnd()}…` : name);
const isLabelOnly = (element) => {
  const isShown = (place) => {
    if (!place || !isShownAtAll(place) || !sizeable(place)) return false;
    const box = place.getBoundingClientRect();
    return box.right + scrollX > 0 && box.bottom + scrollY > 0;
  };
  const [name, places] = nameAndPlaces(element);
  if (!name || places.some((place) => place === element || isShown(place))) return false;
  const visible = [shortText(element, MAX_TEXT_COMPARED_CHARS), element.value ? '' : hintOf(element), ...[...(element.labels ?? [])].filter(isShown).map((label) => squash(label.textContent))];
  return !visible.some((text) => text.includes(name));
};
const regionName = (element) => (isLabelOnly(element) ? `${cutLabel(attributeName(element))} (${LABEL_ONLY})` : attributeName(element));

// A substitute name for an element without one: its title (which Bootstrap's tooltips move), alternative text, or text
// generated by a style sheet.
const TITLES = ['title', 'data-original-title', 'data-bs-original-title', 'alt'];
const fallbackName = (element) => TITLES.map((name) => squash(element.getAttribute(name))).find(Boolean) ?? generatedText(element);
const MIN_OFF_PAGE_PX = 500; // pixels outside the page, where such text is placed to hide it
const WITHOUT_GENERATED = /^(IMG|INPUT|SELECT|TEXTAREA|VIDEO|AUDIO|CANVAS|IFRAME)$/;
const generatedText = (element) => (WITHOUT_GENERATED.test(element.tagName) ? [] : ['::before', '::after']).map((part) => {
  const style = getComputedStyle(element, part), text = /^"(.*)"$/.exec(style.content)?.[1];
  if (!text || !/\p{L}/u.test(text)) return ''; // icon-font characters are not letters
  const away = hiddenByStyle(style, { opacity: Number(style.opacity), back: null }) || Math.min(parseFloat(style.left) || 0, parseFloat(style.top) || 0) <= -MIN_OFF_PAGE_PX;
  return away || style.visibility !== 'visible' ? '' : text;
}).find(Boolean) ?? '';

const FORMATS = 'b,strong,i,em,u,s,font,a[href],h1,h2,h3,li,span[style]'; // formatting that is lost if all the text is replaced
// Class names of the selected element on pages without ARIA states.
const CHOSEN = /(?:^|\s)(?:sel|current|highlighted|on)(?=\s|$)|(?:^|[\s_-])(?:selected|active|chosen|marked|picked|checked)(?=\s|$)/;
// The format that a date or time field accepts.
const FORMS = { date: 'YYYY-MM-DD', datetime: 'YYYY-MM-DDThh:mm', month: 'YYYY-MM', week: 'YYYY-Www', time: 'hh:mm' };

const statesOf = (element, role) => {
  const tag = element.tagName, states = [];
  const add = (state, holds) => { if (holds) states.push(state); };
  const aria = (name) => element.getAttribute('aria-' + name)?.toLowerCase();
  const isChecked = BOX_ROLES.has(role) || role.startsWith('menuitem');
  add('checked', tag === 'LABEL' && element.control?.checked);
  if (element.indeterminate || aria('checked') === 'mixed') add('mixed', true);
  else add('checked', tag === 'INPUT' && isChecked ? element.checked : aria('checked') === 'true');
  add('selected', aria('selected') === 'true' || (tag === 'OPTION' && element.selected));
  add(`sorted ${aria('sort')}`, /^(ascending|descending)$/.test(aria('sort')));
  add('pressed', aria('pressed') === 'true');
  add('current', aria('current') && aria('current') !== 'false');
  add('multiple', tag === 'SELECT' && element.multiple);
  if (role === 'summary') add(element.parentElement?.open ? 'expanded' : 'collapsed', true);
  else add({ true: 'expanded', false: 'collapsed' }[aria('expanded')], /^(true|false)$/.test(aria('expanded')));
  add('disabled', element.disabled || aria('disabled') === 'true' || element.matches(':disabled'));
  add('required', element.required || aria('required') === 'true');
  add('readonly', (element.readOnly && EDITABLE.has(role)) || aria('readonly') === 'true');
  add('invalid', aria('invalid') === 'true' || element.matches(':user-invalid'));
  add('selected', !role && CHOSEN.test(element.className));
  add('formatted', element.isContentEditable && element.querySelector(FORMATS));
  if (tag === 'TEXTAREA' && (element.style.width || element.style.height)) add(`${element.offsetWidth}×${element.offsetHeight} pixels`, true);
  const hint = element.placeholder ? squash(element.placeholder) : '';
  add(`placeholder: ${hint.slice(0, 60)}`, hint && !element.value && hint !== attributeName(element));
  add(`as ${FORMS[role]}`, FORMS[role] && !element.value && tag === 'INPUT');
  add('focused', element.getRootNode().activeElement === element);
  return states;
};

const selectedLabels = (select) => [...select.selectedOptions].map((option) => squash(option.label));

const valueOf = (element, role) => {
  const tag = element.tagName, type = element.type;
  if (tag === 'INPUT') {
    if (type === 'password') return element.value ? '(hidden, filled)' : '';
    if (/^(checkbox|radio|button|submit|reset|image)$/.test(type)) return '';
    if (type === 'file') return [...element.files].map((file) => file.name).join(', ');
    const bounded = (type === 'range' || type === 'number') && (element.min || element.max);
    return bounded ? `${element.value} (${element.min || ''}..${element.max || ''})` : element.value;
  }
  if (tag === 'TEXTAREA') return element.value;
  if (tag === 'SELECT') return selectedLabels(element).join(', ');
  if (role === 'textbox' || role === 'combobox' || role === 'searchbox') return element.isContentEditable ? element.innerText : '';
  if (tag === 'METER' || tag === 'PROGRESS') return String(element.value);
  const text = squash(element.getAttribute('aria-valuetext')), now = element.getAttribute('aria-valuenow') ?? '';
  return !text || text === now || shortText(element, MAX_TEXT_COMPARED_CHARS).includes(text) ? text || now : `${now} (labelled: ${cutLabel(text)})`.trim();
};
