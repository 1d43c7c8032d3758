// Roles, names and states, after HTML-AAM and the accessible name computation, kept to what helps.
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
// Shown as a line of their own even without a name.
const ALWAYS_SHOWN = new Set(['navigation', 'main', 'complementary', 'banner', 'contentinfo', 'dialog', 'alertdialog', 'alert', 'search']);
const WIDGETS = new Set([
  'button', 'link', 'checkbox', 'radio', 'switch', 'slider', 'spinbutton', 'textbox', 'searchbox',
  'combobox', 'option', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'tab', 'treeitem',
  'gridcell', 'select', 'summary', 'file', 'colour', 'date', 'datetime', 'month', 'week', 'time', 'canvas',
  'video', 'audio', 'scrollbar',
]);
const EDITABLE = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton', 'slider', 'date', 'datetime',
  'month', 'week', 'time', 'colour', 'file', 'select', 'listbox']);

const roleOf = (element) => {
  const given = element.getAttribute('role')?.trim().split(/\s+/)[0].toLowerCase();
  if (given && given !== 'presentation' && given !== 'none' && given !== 'generic') return given;
  const native = TAG_ROLES[element.tagName]?.(element) ?? '';
  if (native) return native;
  const tag = element.tagName;
  if (/^H[1-6]$/.test(tag)) return 'heading';
  if (element.isContentEditable && !element.parentElement?.isContentEditable) return 'textbox';
  if ((tag === 'SECTION') && (element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby'))) return 'region';
  return '';
};

const squash = (text) => (text ?? '').replace(/\s+/g, ' ').trim();
// Text as it is put together where a component has slots for it.
const slottedText = function* (element) {
  const given = element.tagName === 'SLOT' ? element.assignedNodes() : [];
  for (const node of given.length ? given : (shadowOf(element) ?? element).childNodes) {
    if (node.nodeType === Node.TEXT_NODE) yield node;
    else if (node.nodeType === Node.ELEMENT_NODE && !/^(SCRIPT|STYLE|NOSCRIPT)$/.test(node.tagName)) yield* slottedText(node);
  }
};

// The beginning of an element's text: reading all of a large container for a name takes seconds.
const shortText = (element, limit) => {
  if (shadowOf(element) || element.getRootNode() !== document) {
    let said = '';
    for (const node of slottedText(element)) if ((said = squash(`${said} ${node.data.slice(0, limit)}`)).length >= limit) break;
    return said.slice(0, limit);
  }
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let text = '';
  for (let node = walker.nextNode(), steps = 0; node && text.length < limit && steps < 400; node = walker.nextNode(), steps += 1) {
    if (!/^(SCRIPT|STYLE|NOSCRIPT)$/.test(node.parentElement?.tagName)) text += ' ' + node.textContent.slice(0, limit);
    text = text.replace(/\s+/g, ' ');
  }
  return text.trim().slice(0, limit);
};
const byIds = (element, ids) => squash(ids.split(/\s+/)
  .map((id) => element.getRootNode().getElementById?.(id)?.textContent ?? '').join(' '));

const labelText = (element) => {
  const labels = element.labels ? [...element.labels] : [];
  const words = (label) => [...slottedText(label)].filter((node) => !node.parentElement?.closest('select,textarea')).map((node) => node.data).join('');
  return squash(labels.map(words).join(' '));
};

// The name from attributes and labels alone, and the elements that show it; the text inside is the walk's business.
const nameAndPlaces = (element) => {
  const ids = element.getAttribute('aria-labelledby');
  const text = ids && byIds(element, ids);
  if (text) return [text, ids.split(/\s+/).map((id) => element.getRootNode().getElementById?.(id))];
  const label = squash(element.getAttribute('aria-label'));
  if (label) return [label, []];
  if (/^(INPUT|SELECT|TEXTAREA|METER|PROGRESS|BUTTON)$/.test(element.tagName) && labelText(element)) return [labelText(element), [...element.labels]];
  if (element.tagName === 'INPUT') {
    if (/^(button|submit|reset)$/.test(element.type)) return [squash(element.value) || (element.type === 'button' ? '' : element.type), [element]];
    if (element.type === 'image') return [squash(element.alt), []];
  }
  if (element.tagName === 'IMG' || element.tagName === 'AREA') return [squash(element.getAttribute('alt')), []];
  const legend = element.tagName === 'FIELDSET' && element.querySelector(':scope > legend');
  if (element.tagName === 'FIELDSET') return [squash(legend?.textContent), [legend]];
  return [hintOf(element), element.value ? [] : [element]];
};
const attributeName = (element) => nameAndPlaces(element)[0];
const hintOf = (element) => squash(element.getAttribute('placeholder') ?? element.getAttribute('aria-placeholder') ?? '');

// A name that nobody sees is told as such, and shortened: of 491 such names on 250 saved pages 19 are longer.
const LABEL_ONLY = 'label only', LABEL_SHOWN = 60;
const cutLabel = (name) => (name.length > LABEL_SHOWN ? `${name.slice(0, LABEL_SHOWN).trimEnd()}…` : name);
const isShown = (place) => {
  if (!place?.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || !sizeable(place)) return false;
  const box = place.getBoundingClientRect();
  return box.right + scrollX > 0 && box.bottom + scrollY > 0;
};
const isLabelOnly = (element) => {
  const [name, places] = nameAndPlaces(element);
  if (!name || places.some((place) => place === element || isShown(place))) return false;
  const said = [shortText(element, TEXT_COMPARED), element.value ? '' : hintOf(element), ...[...(element.labels ?? [])].filter(isShown).map((label) => squash(label.textContent))];
  return !said.some((text) => text.includes(name));
};
const regionName = (element) => (isLabelOnly(element) ? `${cutLabel(attributeName(element))} (${LABEL_ONLY})` : attributeName(element));

const spare = (element) => squash(element.getAttribute('title')) || squash(element.getAttribute('alt')) || styledWords(element);
// Words that a style sheet writes; an icon font's letters are none.
const styledWords = (element) => ['::before', '::after'].map((part) => {
  const style = getComputedStyle(element, part);
  const away = inkHidden(style, { opacity: Number(style.opacity), back: null }) || Math.min(parseFloat(style.left) || 0, parseFloat(style.top) || 0) <= -FAR_OUT;
  return away || style.visibility !== 'visible' ? '' : /^"(.*)"$/.exec(style.content)?.[1];
}).find((said) => /\p{L}/u.test(said ?? '')) ?? '';
const FAR_OUT = 500; // pixels

const FORMATS = 'b,strong,i,em,u,s,font,a[href],h1,h2,h3,li,span[style]'; // typing over all of it would lose them

// What a page that knows no roles calls the one of its things that is chosen.
const CHOSEN = /(?:^|\s)(?:sel|current|highlighted|on)(?=\s|$)|(?:^|[\s_-])(?:selected|active|chosen|marked|picked|checked)(?=\s|$)/;

// How a field of dates and times wants what is typed.
const FORMS = { date: 'YYYY-MM-DD', datetime: 'YYYY-MM-DDThh:mm', month: 'YYYY-MM', week: 'YYYY-Www', time: 'hh:mm' };

const statesOf = (element, role) => {
  const states = element.tagName === 'LABEL' && element.control?.checked ? ['checked'] : [];
  const aria = (name) => element.getAttribute('aria-' + name)?.toLowerCase();
  const checked = role === 'checkbox' || role === 'radio' || role === 'switch' || role.startsWith('menuitem');
  if (element.indeterminate || aria('checked') === 'mixed') states.push('mixed');
  else if (element.tagName === 'INPUT' && checked ? element.checked : aria('checked') === 'true') states.push('checked');
  if (aria('selected') === 'true' || (element.tagName === 'OPTION' && element.selected)) states.push('selected');
  if (/^(ascending|descending)$/.test(aria('sort'))) states.push('sorted ' + aria('sort'));
  if (aria('pressed') === 'true') states.push('pressed');
  const current = aria('current');
  if (current && current !== 'false') states.push('current');
  if (element.tagName === 'SELECT' && element.multiple) states.push('multiple');
  if (role === 'summary') states.push(element.parentElement?.open ? 'expanded' : 'collapsed');
  else if (aria('expanded') === 'true') states.push('expanded');
  else if (aria('expanded') === 'false') states.push('collapsed');
  if (element.disabled || aria('disabled') === 'true' || element.matches(':disabled')) states.push('disabled');
  if (element.required || aria('required') === 'true') states.push('required');
  if ((element.readOnly && EDITABLE.has(role)) || aria('readonly') === 'true') states.push('readonly');
  if (aria('invalid') === 'true' || (element.matches(':user-invalid'))) states.push('invalid');
  if (!role && CHOSEN.test(element.className)) states.push('selected');
  if (element.isContentEditable && element.querySelector(FORMATS)) states.push('formatted');
  if (element.tagName === 'TEXTAREA' && (element.style.width || element.style.height)) states.push(`${element.offsetWidth}×${element.offsetHeight} pixels`);
  const hint = squash(element.placeholder);
  if (hint && !element.value && hint !== attributeName(element)) states.push(`placeholder: ${hint.slice(0, 60)}`);
  if (FORMS[role] && !element.value && element.tagName === 'INPUT') states.push(`as ${FORMS[role]}`);
  if (element.getRootNode().activeElement === element) states.push('focused');
  return states;
};

const valueOf = (element, role) => {
  if (element.tagName === 'INPUT') {
    if (element.type === 'password') return element.value ? '(hidden, filled)' : '';
    if (/^(checkbox|radio|button|submit|reset|image)$/.test(element.type)) return '';
    if (element.type === 'file') return [...element.files].map((file) => file.name).join(', ');
    if (element.type === 'range' || element.type === 'number') {
      const range = [element.min, element.max].some(Boolean) ? ` (${element.min || ''}..${element.max || ''})` : '';
      return element.value + range;
    }
    return element.value;
  }
  if (element.tagName === 'TEXTAREA') return element.value;
  if (element.tagName === 'SELECT') return [...element.selectedOptions].map((option) => squash(option.label)).join(', ');
  if (role === 'textbox' || role === 'combobox' || role === 'searchbox') return element.isContentEditable ? element.innerText : '';
  if (element.tagName === 'METER' || element.tagName === 'PROGRESS') return String(element.value);
  const said = squash(element.getAttribute('aria-valuetext')), now = element.getAttribute('aria-valuenow') ?? '';
  return !said || said === now || shortText(element, TEXT_COMPARED).includes(said) ? said || now : `${now} (labelled: ${cutLabel(said)})`.trim();
};
