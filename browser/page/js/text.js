// A text by its words, wherever nodes and white space break it: its range, its ends, its selection.
const textNodes = function* (root) {
  for (const node of root.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) yield node;
    else if (node.nodeType === Node.ELEMENT_NODE && !/^(SCRIPT|STYLE|NOSCRIPT)$/.test(node.tagName)) {
      const shadow = shadowOf(node);
      if (shadow) yield* textNodes(shadow);
      yield* textNodes(node);
    }
  }
};

// All text without white space, and for each character where it stands.
const charactersIn = (root) => {
  const places = [];
  let text = '';
  for (const node of textNodes(root)) {
    for (let at = 0; at < node.length; at += 1) {
      if (/\s/.test(node.data[at])) continue;
      text += node.data[at];
      places.push([node, at]);
    }
  }
  return { text, places };
};

// What is being written comes before what is only read: a task often names the word it means. An editor that
// draws its text itself does so beside what hears the keys.
const DRAWN_BESIDE = 4; // levels
const rangeIn = (text, element) => {
  const around = [element];
  while (element && fieldKind(element) === 'editor' && around.length <= DRAWN_BESIDE) around.push(composedParent(around.at(-1)));
  const roots = element ? around.filter(Boolean) : [...document.querySelectorAll('[contenteditable]:not([contenteditable=false])'), document.body];
  for (const root of roots) {
    const range = rangeOf(text, root);
    if (range) return range;
  }
  return null;
};

const rangeOf = (wanted, root) => {
  const needle = wanted.replace(/\s+/g, '');
  const { text, places } = charactersIn(root);
  let at = needle ? text.indexOf(needle) : -1;
  if (at < 0) at = text.toLowerCase().indexOf(needle.toLowerCase());
  if (at < 0 || !needle) return null;
  const range = document.createRange();
  const [begin, first] = places[at];
  range.setStart(begin, first);
  const [node, last] = places[at + needle.length - 1];
  range.setEnd(node, last + 1);
  return range;
};

// Whether a text says another; a number only as a whole: no 12 in 1234.
const standsIn = (said, text) => {
  const cut = (before, after) => /\d\d/.test(`${before}${after}`);
  for (let at = said.indexOf(text); at >= 0; at = said.indexOf(text, at + 1)) {
    if (!cut(said[at - 1], text[0]) && !cut(text.at(-1), said[at + text.length])) return true;
  }
  return false;
};

// Refs for the smallest elements that hold a text and have none yet, each with the row it stands in.
const TEXT_REFS = 8, LABEL_LENGTH = 40;
const refsOfText = (wanted) => {
  const needle = squash(wanted).toLowerCase();
  if (!needle) return [];
  const found = [];
  for (const node of textNodes(document.body)) {
    const element = node.parentElement ?? node.getRootNode().host;
    const said = squash(node.data).toLowerCase();
    if (said.length > Math.max(LABEL_LENGTH, 2 * needle.length) || !standsIn(said, needle) || !element?.getClientRects().length) continue;
    if (element.closest('a,button,input,select,textarea') || refOf.has(element)) continue;
    const row = shortText(composedParent(element) ?? element, 80);
    found.push([register(element), squash(node.data).slice(0, 80), row]);
    if (found.length === TEXT_REFS) break;
  }
  return found;
};

const isField = (element) => /^(INPUT|TEXTAREA)$/.test(element?.tagName);

const textEnds = ({ text, element }) => {
  if (isField(element)) return element.value.includes(text) ? fieldEnds(element) : null;
  const range = rangeIn(text, element);
  if (!range) return null;
  range.startContainer.parentElement.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
  if (!boxes.length) return null;
  const first = boxes[0], last = boxes.at(-1);
  return { start: [first.left, first.top + first.height / 2], end: [last.right, last.top + last.height / 2] };
};

const fieldEnds = (field) => {
  const box = field.getBoundingClientRect();
  const middle = [box.left + box.width / 2, box.top + Math.min(box.height / 2, 12)];
  return { start: middle, end: middle };
};

const selectText = ({ text, element }) => {
  if (isField(element)) {
    const at = element.value.indexOf(text);
    element.focus();
    element.setSelectionRange(at, at + text.length);
    return;
  }
  const selection = getSelection();
  const bare = (words) => words.replace(/\s+/g, '').toLowerCase();
  if (bare(selection.toString()) === bare(text)) return;
  const range = rangeIn(text, element);
  if (!range) return;
  selection.removeAllRanges();
  selection.addRange(range);
};
