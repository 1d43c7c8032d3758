// The visible part of this document, as HTML or text, and its context. The document is not changed.
const VOID = new Set(['AREA', 'BASE', 'BR', 'COL', 'EMBED', 'HR', 'IMG', 'INPUT', 'LINK', 'META', 'SOURCE', 'TRACK', 'WBR']);
const UNSEEN_TAGS = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'META', 'HEAD', 'OBJECT', 'EMBED', 'CANVAS', 'AUDIO', 'VIDEO', 'SVG', 'svg']);
const KEPT_ATTRIBUTES = ['href', 'id', 'class', 'rel', 'role', 'datetime', 'colspan', 'rowspan', 'itemprop', 'aria-label', 'title', 'type',
  'property', 'content', 'lang', 'alt', 'src', 'data-testid', 'open'];
const MAX_VISIBLE_NODES = 200_000, MAX_VISIBLE_CHARS = 12_000_000;

const PINNED = new Set(['fixed', 'sticky']);
// The fixed element at a point or around it, unless it also contains `element`.
const pinnedOver = (hit, element) => {
  const found = outward(hit, (at) => at.contains(element) || PINNED.has(getComputedStyle(at).position));
  return found?.contains(element) ? null : found;
};

// The layers that together cover the whole window; empty if something is visible between them.
const SAMPLED_POSITIONS = [0.05, 0.35, 0.65, 0.95];
const layersOver = (covers) => {
  const found = new Set(SAMPLED_POSITIONS.flatMap((x) => SAMPLED_POSITIONS.map((y) => {
    const hit = deepHit(innerWidth * x, innerHeight * y);
    return hit && covers(hit) ? pinnedOver(hit, null) : null;
  })));
  return found.has(null) ? [] : [...found];
};

// A layer may be opaque and still let the pointer through (pointer-events: none). Our own style sheet disables that during
// the hit test, which page scripts cannot notice. Pictures in such layers are mostly grain or confetti, so only plain
// colours count.
const layersWithoutPointer = () => {
  const before = [...document.adoptedStyleSheets]; // a copy: the property itself changes on every assignment
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { pointer-events: auto !important }');
  document.adoptedStyleSheets = [...before, sheet];
  try {
    return layersOver((hit) => {
      const style = getComputedStyle(pinnedOver(hit, null) ?? hit);
      return parseColour(style.backgroundColor)?.[3] > OPAQUE && Number(style.opacity) >= 0.9;
    });
  } finally {
    document.adoptedStyleSheets = before;
  }
};

// Returns a test for elements covered by something that scrolls with them, or by layers over the whole window. A fixed
// bar hides nothing, as the text scrolls under it.
const coverTester = () => {
  const sheets = layersOver((hit) => paints(hit, null));
  const over = sheets.length ? sheets : layersWithoutPointer();
  return (element, rect) => {
    if (over.length && !over.some((layer) => isWithin(element, layer))) return true;
    const { x, y } = middleOf(rect);
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
    const hit = deepHit(x, y);
    return !!hit && !isWithin(hit, element) && !isWithin(element, hit) && paints(hit, element) && !pinnedOver(hit, element);
  };
};

const lookAt = (element, style, outer) => {
  const { overflow } = style, look = lookInside(element, style, outer, overflow);
  look.clip = null; // clipped content may be expandable; an element without a size shows nothing
  if (HIDING_OVERFLOW.test(overflow)) {
    const { width, height } = element.getBoundingClientRect();
    if (width <= 1 || height <= 1) look.gone = 'invisible';
  }
  look.folded ||= element.tagName === 'DETAILS' && !element.open;
  look.listed ||= element.tagName === 'SELECT'; // its options are rendered by the browser
  return look;
};

const isFrame = (element) => element.tagName === 'IFRAME' || element.tagName === 'FRAME';
const frameBody = (element) => {
  const { clientWidth: width, clientHeight: height } = element;
  try { return width > 1 && height > 1 && element.contentDocument?.body; } catch { return null; }
};

// Calls `open(element)`, `text(words, { style, look })` and `close(element, style)` for visible content. It uses an explicit
// stack, as hostile pages are nested deeper than the call stack.
const walkSeen = (start, most, { open, text, close }) => {
  const isCovered = coverTester(), range = document.createRange();
  const isSeen = (node, { element, style, look }) => {
    if (style.visibility !== 'visible') return false;
    if (!node.data.trim() || look.listed) return true;
    if (look.folded) return !hiddenByStyle(style, look);
    range.selectNode(node);
    const rect = range.getBoundingClientRect();
    return !textHidden(style, look, rect) && !(element.ownerDocument === document && isCovered(element, rect));
  };
  /** @type {any[]} */
  const stack = [{ node: start, look: rootLook() }];
  for (let nodes = 0, chars = 0; stack.length && nodes < MAX_VISIBLE_NODES && chars < most; nodes += 1) {
    const job = stack.pop(), { node } = job;
    if (job.leave) close(node, job.style);
    else if (node.nodeType === Node.TEXT_NODE) {
      if (!isSeen(node, job)) continue;
      chars += node.data.length;
      text(node.data, job);
    } else if (node.nodeType === Node.ELEMENT_NODE && !UNSEEN_TAGS.has(node.tagName)) {
      const style = getComputedStyle(node);
      if (style.display === 'none' || style.contentVisibility === 'hidden') continue;
      const look = lookAt(node, style, job.look), body = isFrame(node) && frameBody(node);
      if (look.gone || look.opacity <= TRANSPARENT || (isFrame(node) && !body)) continue;
      open(node);
      if (!VOID.has(node.tagName)) stack.push({ node, style, leave: true });
      for (const child of [...(body ? [body] : childrenOf(node))].reverse()) {
        const summary = child.tagName === 'SUMMARY' && node.tagName === 'DETAILS';
        stack.push({ node: child, element: node, style, look: summary ? { ...look, folded: job.look.folded } : look });
      }
    }
  }
};

const escapeText = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const escapeValue = (text) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;');

const rendered = () => {
  const root = document.documentElement;
  const out = [`<!doctype html><html${root.lang ? ` lang="${escapeValue(root.lang)}"` : ''}><head><meta charset="utf-8"><title>${escapeText(document.title)}</title>`];
  // The user is looking at an open dialog, so it is content, not a frame around the content.
  const isFront = (element) => element.tagName === 'DIALOG' || element.getAttribute('aria-modal') === 'true' || /^(alert)?dialog$/.test(element.getAttribute('role') || '');
  const tagOf = (element) => (isFrame(element) || isFront(element) ? 'section' : element.tagName.toLowerCase());
  const attributes = (element) => KEPT_ATTRIBUTES.filter((name) => element.hasAttribute(name)).map((name) => ` ${name}="${escapeValue(element.getAttribute(name))}"`).join('');
  out.push(`<base href="${escapeValue(document.baseURI)}">`);
  for (const kept of ['meta[name],meta[property],meta[itemprop],link[rel~=canonical],link[rel~=next]', 'script[type="application/ld+json"]']) {
    for (const element of document.querySelectorAll(kept)) out.push(element.outerHTML);
  }
  out.push('</head>');
  if (document.body) {
    walkSeen(document.body, MAX_VISIBLE_CHARS, {
      open: (element) => {
        const tag = tagOf(element);
        if (isFront(element)) out.push('<section role="dialog" data-front="">');
        else out.push(tag === 'button' || tag === 'body' ? `<${tag}>` : `<${tag}${attributes(element)}>`);
      },
      text: (words) => out.push(escapeText(words)),
      close: (element) => out.push(`</${tagOf(element)}>`),
    });
  }
  return out.join('') + '</html>';
};

// The visible content as text: one line per block, with a row's cells separated by tabs.
const seenText = (limit) => {
  const out = [];
  const part = (style) => {
    if (style.display === 'table-cell') out.push('\t');
    else if (isBlock(style.display)) out.push('\n');
  };
  if (document.body) {
    walkSeen(document.body, limit, {
      open: (element) => { if (element.tagName === 'BR') out.push('\n'); else part(getComputedStyle(element)); },
      text: (words, { style, look }) => {
        if (!look.folded && !look.listed) out.push(style.whiteSpace.startsWith('pre') ? words : words.replace(/\s+/g, ' '));
      },
      close: (element, style) => { if (style.display !== 'table-cell') part(style); },
    });
  }
  return out.join('').replace(/[ \t]*\n[ \t]*/g, '\n').replace(/\n{3,}/g, '\n\n').replace(/ {2,}/g, ' ').trim();
};

const meta = (...names) => {
  for (const name of names) {
    const found = /** @type {HTMLMetaElement} */ (document.querySelector(`meta[property="${name}"],meta[name="${name}"],meta[itemprop="${name}"]`));
    if (found?.content) return found.content.trim();
  }
  return null;
};

const publishedAt = () => {
  const declared = meta('article:published_time', 'datePublished', 'date', 'pubdate', 'dc.date');
  if (declared !== null) return declared;
  const linkedData = [...document.querySelectorAll('script[type="application/ld+json"]')].map((script) => /"datePublished"\s*:\s*"([^"]{4,40})"/.exec(script.textContent));
  return linkedData.find(Boolean)?.[1] ?? document.querySelector('time[datetime]')?.getAttribute('datetime') ?? null;
};

const selectedText = () => {
  const active = /** @type {HTMLInputElement} */ (document.activeElement);
  const inField = active && typeof active.selectionStart === 'number' && active.type !== 'password' ? active.value.slice(active.selectionStart, active.selectionEnd) : '';
  return inField || String(getSelection() ?? '');
};

// URL, title, selection, focus, text, date; and whether the document is visible and focused.
const context = ({ limit }) => {
  const active = document.activeElement;
  const focused = active && active !== document.body && active !== document.documentElement;
  return {
    url: location.href, title: document.title, selection: selectedText().slice(0, limit),
    visible_text: seenText(limit).slice(0, limit),
    canonical_url: /** @type {HTMLLinkElement} */ (document.querySelector('link[rel~="canonical"]'))?.href ?? null,
    focused: focused ? lineOf(active) + (isLabelOnly(active) ? ` (${LABEL_ONLY})` : '') : null,
    language: document.documentElement.lang || meta('og:locale', 'content-language'),
    published: publishedAt(),
    visible: document.visibilityState === 'visible', focus: document.hasFocus(),
  };
};

// The page's localStorage and sessionStorage; `bytes` is the size of its databases.
const STORAGE_MS = 300; // to wait for the browser's answer about databases
const stored = async () => {
  const items = (name) => { try { return Object.entries(window[name]); } catch { return []; } };
  const soon = (promise) => Promise.race([promise, later(STORAGE_MS)]);
  let bytes = 0;
  try {
    if ((await soon(indexedDB.databases()))?.length) {
      const estimate = await soon(navigator.storage?.estimate());
      bytes = estimate?.usageDetails?.indexedDB || 1;
    }
  } catch { /* a page without its own origin has none */ }
  return { local: items('localStorage'), session: items('sessionStorage'), bytes };
};
