// Serialises what a person sees of this document. Runs in the page; changes nothing in it.
() => {
  const SKIP = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "LINK", "META", "HEAD", "OBJECT", "EMBED",
    "CANVAS", "AUDIO", "VIDEO", "SVG", "svg"]);
  const VOID = new Set(["BR", "HR", "IMG", "INPUT", "WBR", "AREA", "COL", "SOURCE", "TRACK"]);
  const KEEP = ["href", "id", "class", "rel", "role", "datetime", "colspan", "rowspan", "itemprop", "aria-label",
    "title", "type", "property", "content", "lang", "alt", "src", "data-testid"];
  const MOST_NODES = 200000, MOST_CHARS = 12000000;
  const out = [];
  let chars = 0, nodes = 0;
  const put = (text) => { out.push(text); chars += text.length; };
  const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const rgba = (value) => {
    const parts = (value.match(/[\d.]+/g) || []).map(Number);
    return { rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1 };
  };
  const same = (a, b) => a && b && a.every((v, i) => Math.abs(v - b[i]) <= 12);

  const attributes = (element) => KEEP.filter((name) => element.hasAttribute(name))
    .map((name) => ` ${name}="${escape(element.getAttribute(name))}"`).join("");

  // How an element looks: null where neither it nor anything in it can be seen.
  const look = (element, ground) => {
    const style = element.ownerDocument.defaultView.getComputedStyle(element);
    if (style.display === "none" || parseFloat(style.opacity) <= 0.05) return null;
    if (style.contentVisibility === "hidden" || /opacity\(0%?\)/.test(style.filter)) return null;
    if (isAway(element, style)) return null;
    const back = rgba(style.backgroundColor);
    let below = ground;
    if (style.backgroundImage !== "none") below = null;
    else if (back.alpha > 0.5) below = back.rgb;
    const ink = rgba(style.webkitTextFillColor || style.color);
    const clipped = (style.webkitBackgroundClip || style.backgroundClip) === "text";
    const seen = style.visibility === "visible" && parseFloat(style.fontSize) >= 2 && parseFloat(style.textIndent) > -500
      && (clipped || (ink.alpha > 0 && !same(ink.rgb, below)));
    return { below, seen };
  };

  const isAway = (element, style) => {
    const placed = style.position === "absolute" || style.position === "fixed";
    if (style.clipPath !== "none" && /inset\((5\d|[6-9]\d|100)%|circle\(0|polygon\(0(px|%)? 0(px|%)?(, 0(px|%)? 0(px|%)?)*\)/.test(style.clipPath)) return true;
    if (placed && /rect\((0|1)px,? (0|1)px,? (0|1)px,? (0|1)px\)/.test(style.clip)) return true;
    const cut = /hidden|clip/.test(style.overflow);
    if (!placed && !cut && style.transform === "none" && parseFloat(style.marginLeft) > -500) return false;
    const box = element.getBoundingClientRect();
    if (cut && (box.width <= 1 || box.height <= 1) && element.textContent.trim()) return true;
    const view = element.ownerDocument.defaultView;
    const far = box.right + view.scrollX <= 0 || box.bottom + view.scrollY <= 0;
    return far && box.width > 0 && box.height > 0;
  };

  const childrenOf = (element) => {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    if (element.tagName === "SLOT") {
      const assigned = element.assignedNodes({ flatten: true });
      if (assigned.length) return assigned;
    }
    return element.childNodes;
  };

  // A dialog that is open: it is what the person is looking at, not a frame of the content.
  const isFront = (element) => element.tagName === "DIALOG" || element.getAttribute("aria-modal") === "true"
    || /^(alert)?dialog$/.test(element.getAttribute("role") || "");

  const frameBody = (element) => {
    try { return element.contentDocument && element.contentDocument.body; } catch { return null; }
  };

  // An explicit stack: hostile pages nest deeper than the call stack goes.
  const write = (start) => {
    /** @type {any[]} */
    const stack = [{ node: start, ground: [255, 255, 255], seen: true }];
    while (stack.length && nodes < MOST_NODES && chars < MOST_CHARS) {
      const { node, ground, seen, close } = stack.pop();
      if (close) { put(close); continue; }
      nodes += 1;
      if (node.nodeType === 3) { if (seen) put(escape(node.data)); continue; }
      if (node.nodeType !== 1 || SKIP.has(node.tagName)) continue;
      const seenAs = look(node, ground);
      if (!seenAs) continue;
      let tag = node.tagName.toLowerCase(), children = childrenOf(node);
      if (tag === "iframe" || tag === "frame") {
        const body = frameBody(node);
        if (!body) continue;
        tag = "section"; children = body.childNodes;
      }
      if (isFront(node)) { tag = "section"; put('<section role="dialog" data-front="">'); }
      else if (tag === "button" || tag === "body") put(`<${tag}>`); else put(`<${tag}${attributes(node)}>`);
      if (VOID.has(node.tagName)) continue;
      stack.push({ close: `</${tag}>` });
      for (let i = children.length - 1; i >= 0; i -= 1) stack.push({ node: children[i], ground: seenAs.below, seen: seenAs.seen });
    }
  };

  const root = document.documentElement;
  put(`<!doctype html><html${root.lang ? ` lang="${escape(root.lang)}"` : ""}><head><meta charset="utf-8"><title>${escape(document.title)}</title>`);
  put(`<base href="${escape(document.baseURI)}">`);
  for (const meta of document.querySelectorAll("meta[name],meta[property],meta[itemprop],link[rel~=canonical],link[rel~=next]")) put(meta.outerHTML);
  for (const data of document.querySelectorAll('script[type="application/ld+json"]')) put(data.outerHTML);
  put("</head>");
  if (document.body) write(document.body);
  put("</html>");
  return out.join("");
}
