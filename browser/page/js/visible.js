// What a person sees of this document, as HTML or as text. Changes nothing in it.
const VOID = new Set(['AREA', 'BASE', 'BR', 'COL', 'EMBED', 'HR', 'IMG', 'INPUT', 'LINK', 'META', 'SOURCE', 'TRACK', 'WBR']);
const UNSEEN_TAGS = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'META', 'HEAD', 'OBJECT', 'EMBED', 'CANVAS', 'AUDIO', 'VIDEO', 'SVG', 'svg']);
const KEPT_ATTRIBUTES = ['href', 'id', 'class', 'rel', 'role', 'datetime', 'colspan', 'rowspan', 'itemprop', 'aria-label', 'title', 'type',
  'property', 'content', 'lang', 'alt', 'src', 'data-testid', 'open'];
const SEEN_NODES = 200_000, SEEN_CHARS = 12_000_000;

const escapeText = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const escapeValue = (text) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;');

const childrenOf = (element) => {
  const shadow = shadowOf(element);
  if (shadow) return [...shadow.childNodes];
  if (element.tagName === 'SLOT') {
    const assigned = element.assignedNodes({ flatten: true });
    if (assigned.length) return assigned;
  }
  return [...element.childNodes];
};

// A dialog that is open: it is what the person is looking at, not a frame of the content.
const isFront = (element) => element.tagName === 'DIALOG' || element.getAttribute('aria-modal') === 'true'
  || /^(alert)?dialog$/.test(element.getAttribute('role') || '');

const PINNED = new Set(['fixed', 'sticky']);
const pinnedOver = (hit, element) => {
  for (let at = hit; at && !(element && at.contains(element)); at = composedParent(at)) if (PINNED.has(getComputedStyle(at).position)) return at;
  return null;
};

// What is painted over a text and goes where it goes; or over the whole window, wherever one scrolls.
// A bar that stays in place while the text moves on under it hides nothing.
const SHARES = [0.05, 0.35, 0.65, 0.95];
// Layers that together lie over the whole window; empty where something between them can be seen.
const layersOver = (covers) => {
  const found = new Set(SHARES.flatMap((x) => SHARES.map((y) => {
    const hit = deepHit(innerWidth * x, innerHeight * y);
    return hit && covers(hit) ? pinnedOver(hit, null) : null;
  })));
  return found.has(null) ? [] : [...found];
};

// A layer may let the pointer through and still be opaque. A style sheet of ours turns that off while we look, which
// no script of the page can notice. Pictures without a pointer are mostly grain or confetti: only plain colour counts.
const layersWithoutPointer = () => {
  const all = document.adoptedStyleSheets, sheet = new CSSStyleSheet();
  sheet.replaceSync('* { pointer-events: auto !important }');
  document.adoptedStyleSheets = [...all, sheet];
  try {
    return layersOver((hit) => {
      const style = getComputedStyle(pinnedOver(hit, null) ?? hit);
      return parseColour(style.backgroundColor)?.[3] > 0.95 && Number(style.opacity) >= 0.9;
    });
  } finally {
    document.adoptedStyleSheets = all;
  }
};

const coverTester = () => {
  const sheets = layersOver((hit) => paints(hit, null));
  const over = sheets.length ? sheets : layersWithoutPointer();
  return (element, rect) => {
    if (over.length && !over.some((layer) => isWithin(element, layer))) return true;
    const x = rect.left + rect.width / 2, y = rect.top + rect.height / 2;
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
    const hit = deepHit(x, y);
    return !!hit && !isWithin(hit, element) && !isWithin(element, hit) && paints(hit, element) && !pinnedOver(hit, element);
  };
};

const lookAt = (element, style, outer) => {
  const look = lookInside(element, style, outer);
  look.clip = null; // what a box cuts off may be unfolded; what has no size shows nothing
  if (HIDING_OVERFLOW.has(style.overflowX) || HIDING_OVERFLOW.has(style.overflowY)) {
    const { width, height } = element.getBoundingClientRect();
    if (width <= 1 || height <= 1) look.gone = 'invisible';
  }
  look.folded ||= element.tagName === 'DETAILS' && !element.open;
  look.listed ||= element.tagName === 'SELECT'; // its options are drawn by the browser
  return look;
};

const frameBody = (element) => {
  const { clientWidth: width, clientHeight: height } = element;
  try { return width > 1 && height > 1 && element.contentDocument?.body; } catch { return null; }
};

// Calls `open(element, style)`, `text(words, style)` and `close(element, style)` for what is seen. An explicit
// stack: hostile pages nest deeper than the call stack goes.
const walkSeen = (start, most, { open, text, close }) => {
  const covered = coverTester(), range = document.createRange();
  const isSeen = (node, { element, style, look }) => {
    if (style.visibility !== 'visible') return false;
    if (!node.data.trim() || look.listed) return true;
    if (look.folded) return !inkHidden(style, look);
    range.selectNode(node);
    const rect = range.getBoundingClientRect();
    return !textHidden(style, look, rect) && !(element.ownerDocument === document && covered(element, rect));
  };
  /** @type {any[]} */
  const stack = [{ node: start, look: ROOT_LOOK }];
  for (let nodes = 0, chars = 0; stack.length && nodes < SEEN_NODES && chars < most; nodes += 1) {
    const job = stack.pop(), { node } = job;
    if (job.leave) close(node, job.style);
    else if (node.nodeType === Node.TEXT_NODE) {
      if (!isSeen(node, job)) continue;
      chars += node.data.length;
      text(node.data, job);
    } else if (node.nodeType === Node.ELEMENT_NODE && !UNSEEN_TAGS.has(node.tagName)) {
      const style = getComputedStyle(node);
      if (style.display === 'none' || style.contentVisibility === 'hidden') continue;
      const look = lookAt(node, style, job.look);
      const isFrame = node.tagName === 'IFRAME' || node.tagName === 'FRAME';
      const body = isFrame && frameBody(node);
      if (look.gone || look.opacity <= TRANSPARENT || (isFrame && !body)) continue;
      open(node);
      if (!VOID.has(node.tagName)) stack.push({ node, style, leave: true });
      const children = body ? [body] : childrenOf(node);
      for (let i = children.length - 1; i >= 0; i -= 1) {
        const summary = children[i].tagName === 'SUMMARY' && node.tagName === 'DETAILS';
        stack.push({ node: children[i], element: node, style, look: summary ? { ...look, folded: job.look.folded } : look });
      }
    }
  }
};

const rendered = () => {
  const out = [];
  const root = document.documentElement;
  const put = (text) => { out.push(text); };
  const tagOf = (element) => (/^I?FRAME$/.test(element.tagName) || isFront(element) ? 'section' : element.tagName.toLowerCase());
  const attributes = (element) => KEPT_ATTRIBUTES.filter((name) => element.hasAttribute(name)).map((name) => ` ${name}="${escapeValue(element.getAttribute(name))}"`).join('');
  put(`<!doctype html><html${root.lang ? ` lang="${escapeValue(root.lang)}"` : ''}><head><meta charset="utf-8"><title>${escapeText(document.title)}</title>`);
  put(`<base href="${escapeValue(document.baseURI)}">`);
  for (const meta of document.querySelectorAll('meta[name],meta[property],meta[itemprop],link[rel~=canonical],link[rel~=next]')) put(meta.outerHTML);
  for (const data of document.querySelectorAll('script[type="application/ld+json"]')) put(data.outerHTML);
  put('</head>');
  if (document.body) {
    walkSeen(document.body, SEEN_CHARS, {
      open: (element) => {
        const tag = tagOf(element);
        if (isFront(element)) put('<section role="dialog" data-front="">');
        else put(tag === 'button' || tag === 'body' ? `<${tag}>` : `<${tag}${attributes(element)}>`);
      },
      text: (words) => put(escapeText(words)),
      close: (element) => put(`</${tagOf(element)}>`),
    });
  }
  put('</html>');
  return out.join('');
};

// The same as text: blocks on lines of their own, the cells of a row apart by tabs.
const seenText = (limit) => {
  const out = [];
  if (!document.body) return '';
  const part = (style) => {
    if (style.display === 'table-cell') out.push('\t');
    else if (isBlock(style.display)) out.push('\n');
  };
  walkSeen(document.body, limit, {
    open: (element) => { if (element.tagName === 'BR') out.push('\n'); else part(getComputedStyle(element)); },
    text: (words, { style, look }) => {
      if (!look.folded && !look.listed) out.push(style.whiteSpace.startsWith('pre') ? words : words.replace(/\s+/g, ' '));
    },
    close: (element, style) => { if (style.display !== 'table-cell') part(style); },
  });
  return out.join('').replace(/[ \t]*\n[ \t]*/g, '\n').replace(/\n{3,}/g, '\n\n').replace(/ {2,}/g, ' ').trim();
};
