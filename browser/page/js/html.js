// The DOM as HTML: shadow roots in their hosts, slots filled, frames marked for what goes there,
// and what no person can see marked `hidden`.
const VOID = new Set(['AREA', 'BASE', 'BR', 'COL', 'EMBED', 'HR', 'IMG', 'INPUT', 'LINK', 'META', 'SOURCE', 'TRACK', 'WBR']);
const RAW_TEXT = new Set(['SCRIPT', 'STYLE', 'XMP', 'NOEMBED', 'NOFRAMES', 'PLAINTEXT', 'NOSCRIPT']);
const HTML_LIMIT = 8_000_000; // characters; what is longer is no page to read
const KEPT_DATA_URL = 200;
const escapeText = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const escapeValue = (text) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;');

// Hidden by tricks of style. What is not displayed at all (a menu, a closed panel) stays as it is.
const tricked = (element) => {
  if (!element.firstChild || element.childElementCount > 20) return false;
  const style = getComputedStyle(element);
  if (style.display === 'none') return false;
  if (Number(style.opacity) <= TRANSPARENT || parseFloat(style.fontSize) <= TINY_FONT_PX) return true;
  if (clippedAway(element, style)) return true;
  const fill = parseColour(style.webkitTextFillColor) ?? parseColour(style.color);
  return !!fill && fill[3] <= TRANSPARENT && style.webkitBackgroundClip !== 'text' && style.textShadow === 'none';
};

const attributesOf = (element) => {
  let text = '';
  for (const { name, value } of element.attributes) {
    if (value.startsWith('data:') && value.length > KEPT_DATA_URL) continue;
    text += value ? ` ${name}="${escapeValue(value)}"` : ` ${name}`;
  }
  if (element.tagName === 'INPUT' && element.type === 'password') text = text.replace(/ value="[^"]*"/, '');
  return text;
};

const childrenOf = (element) => {
  if (element.tagName === 'TEMPLATE') return [];
  const shadow = shadowOf(element);
  if (shadow) return [...shadow.childNodes];
  if (element.tagName === 'SLOT') {
    const assigned = element.assignedNodes({ flatten: true });
    if (assigned.length) return assigned;
  }
  return [...element.childNodes];
};

const frameNumbers = new WeakMap();
let framesSeen = 0;
const frameNumber = (element) => {
  if (!frameNumbers.has(element)) frameNumbers.set(element, (framesSeen += 1));
  return frameNumbers.get(element);
};

// Each child frame leaves a mark that only we know, to be replaced by what its own document gives.
const html = ({ mark }) => {
  const parts = [];
  let size = 0;
  const put = (text) => { parts.push(text); size += text.length; };
  /** @type {any[]} */
  const stack = [document.documentElement];
  while (stack.length && size < HTML_LIMIT) {
    const node = stack.pop();
    if (typeof node === 'string') put(node);
    else if (node.nodeType === Node.TEXT_NODE) put(RAW_TEXT.has(node.parentNode?.tagName) ? node.data : escapeText(node.data));
    else if (node.nodeType === Node.ELEMENT_NODE) openTag(node, mark, put, stack);
  }
  while (stack.length) { const rest = stack.pop(); if (typeof rest === 'string') put(rest); }
  return (document.doctype ? '<!DOCTYPE html>' : '') + parts.join('');
};

const openTag = (element, mark, put, stack) => {
  const tag = element.tagName.toLowerCase();
  if (tag === 'iframe' || tag === 'frame') {
    put(`<div data-frame="${escapeValue(element.src ?? '')}">`);
    stack.push(`${mark}${frameNumber(element)};</div>`);
    return;
  }
  const hidden = element.hasAttribute('hidden') || !tricked(element) ? '' : ' hidden=""';
  put(`<${tag}${attributesOf(element)}${hidden}>`);
  if (VOID.has(element.tagName)) return;
  stack.push(`</${tag}>`);
  const children = childrenOf(element);
  for (let i = children.length - 1; i >= 0; i -= 1) stack.push(children[i]);
};
