// Determines what a user can see, from colours, clipping, opacity, geometry and elements on top.
const TRANSPARENT = 0.08; // text fainter than this cannot be read
const OPAQUE = 0.95;
const MAX_SAME_COLOUR_DIFFERENCE = 24; // sum over the channels; text is then indistinguishable from its background
const TINY_FONT_PX = 2;
const MIN_FAR_RIGHT_PX = 5000; // outside any window, reached only by scrolling sideways
const HIDING_OVERFLOW = /hidden|clip/, ROLLING_OVERFLOW = /auto|scroll/; // in one or both directions

const colours = new Map(); // CSS text -> [red, green, blue, alpha], null if it is not a colour
const parseColour = (text) => {
  let found = colours.get(text);
  if (found === undefined) {
    const numbers = /^(?:ok)?l(?:ab|ch)\(|^color\(/.test(text) ? paintedColour(text) : /^rgba?\(([^)]+)\)/.exec(text)?.[1].split(/[\s,/]+/).filter(Boolean).map(Number);
    found = numbers && numbers.length >= 3 ? [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1] : null;
    colours.set(text, found);
  }
  return found;
};

// Notations other than rgb are converted by painting a pixel.
const paintedColour = (text) => {
  const brush = new OffscreenCanvas(1, 1).getContext('2d');
  brush.fillStyle = text;
  brush.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = brush.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, alpha / 255];
};

const sameColour = (a, b) => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]) <= MAX_SAME_COLOUR_DIFFERENCE;

// The colours of a background image made of gradients; none for any other image.
const gradientColours = (image) => {
  if (image === 'none' || !/^[\w-]*gradient\(/.test(image) || /url\(|image\(/.test(image)) return [];
  const found = (image.match(/(?:rgba?|ok(?:lab|lch)|lab|lch|color)\([^()]*\)/g) ?? []).map(parseColour);
  return found.every(Boolean) ? found : [];
};

// The background colour of text, or of a single-colour gradient; null for a picture.
const groundOf = (style) => {
  const image = style.backgroundImage;
  if (image === 'none') return parseColour(style.backgroundColor);
  const colours = gradientColours(image);
  return colours.length && colours.every((colour) => colour[3] > 0.9 && sameColour(colour, colours[0])) ? colours[0] : null;
};

// The part of a box that `clip-path` leaves visible: [left, top, right, bottom] in its own pixels; all for unsupported shapes.
const lengthOf = (text, whole) => (text.endsWith('%') ? (parseFloat(text) / 100) * whole : parseFloat(text) || 0);
const leftOfClip = (path, width, height) => {
  const [, shape, inner = ''] = /^(\w+)\((.*)\)/.exec(path) ?? [];
  const [size, place = '50% 50%'] = inner.split(/\s+at\s+|,?\s+round\s+/);
  const sides = size.trim().split(/[\s,]+/);
  if (shape === 'inset') {
    const [top, right = top, bottom = top, left = right] = sides;
    return [lengthOf(left, width), lengthOf(top, height), width - lengthOf(right, width), height - lengthOf(bottom, height)];
  }
  if (shape === 'rect') {
    const [top, right, bottom, left] = sides;
    return [lengthOf(left, width), lengthOf(top, height), right === 'auto' ? width : lengthOf(right, width), bottom === 'auto' ? height : lengthOf(bottom, height)];
  }
  if ((shape === 'circle' || shape === 'ellipse') && !/[a-z]-/.test(inner)) {
    const [x, y] = place.split(/\s+/), across = lengthOf(sides[0], width), down = lengthOf(sides[1] ?? sides[0], height);
    return [lengthOf(x, width) - across, lengthOf(y, height) - down, lengthOf(x, width) + across, lengthOf(y, height) + down];
  }
  if (shape === 'polygon') {
    const points = inner.replace(/^(nonzero|evenodd),\s*/, '').split(/,\s*/).map((point) => point.trim().split(/\s+/));
    const xs = points.map(([x]) => lengthOf(x, width)), ys = points.map(([, y]) => lengthOf(y ?? '0', height));
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  }
  return shape === 'path' && inner === '"M 0 0"' ? [0, 0, 0, 0] : [0, 0, width, height];
};

const clippedAway = (element, style, position) => {
  const path = style.clipPath;
  if (path !== 'none') {
    const named = /^url\("#(.+)"\)$/.exec(path);
    const holder = named && element.getRootNode().getElementById?.(named[1]);
    if (holder) return !holder.childElementCount;
    const { offsetWidth: width = 0, offsetHeight: height = 0 } = element;
    const [left, top, right, bottom] = leftOfClip(path, width, height);
    if (width && height && (Math.min(right, width) - Math.max(left, 0) <= 1 || Math.min(bottom, height) - Math.max(top, 0) <= 1)) return true;
  }
  if (!PLACED.has(position)) return false; // `clip` applies only to these
  const sides = (style.clip.match(/-?[\d.]+/g) ?? []).map(Number);
  return sides.length === 4 && (sides[2] - sides[0] <= 1 || sides[1] - sides[3] <= 1);
};

// Whether only an element's back, which is not drawn, faces the viewer.
const turnedAway = ({ transform }) => transform.startsWith('matrix3d') && new DOMMatrixReadOnly(transform).m33 < 0;

const PLACED = new Set(['absolute', 'fixed']);
const farAway = (element, style, position) => PLACED.has(position) && parseFloat(style.left) >= MIN_FAR_RIGHT_PX
  && element.getBoundingClientRect().left + scrollX >= MIN_FAR_RIGHT_PX;

const isMoved = (element) => getComputedStyle(element).transform !== 'none'; // it contains fixed content, which moves with it

// Values that content inherits from an element: `back`, the colour behind it, null for a picture; `clip`, the box that it
// is cut to, and `roll`, the scrollable list around it (both also for positioned content, as `fixedClip` and `fixedRoll`);
// `gone`, the reason if nothing in it can be seen; `page`, where the document begins and ends, read once per walk.
const rootLook = () => {
  const root = document.scrollingElement ?? document.documentElement;
  const page = { left: -scrollX, top: -scrollY, right: Math.max(root.scrollWidth, innerWidth) - scrollX };
  return { opacity: 1, back: [255, 255, 255, 1], clip: null, fixedClip: null, roll: null, fixedRoll: null, turns: false, pinned: false, gone: '', page };
};

// Whether a drawing's text in the colour of the page is drawn on a shape of a different colour, as on Blockly's blocks.
const MAX_SHAPES_TRIED = 200;
const standsOnShape = (text, ink) => {
  const { x, y } = middleOf(text.getBoundingClientRect());
  const shapes = [...(text.closest('svg')?.querySelectorAll('path,rect,circle,ellipse,polygon') ?? [])].slice(0, MAX_SHAPES_TRIED);
  return shapes.some((shape) => {
    const { left, right, top, bottom } = shape.getBoundingClientRect();
    if (x < left || x > right || y < top || y > bottom || !(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) return false;
    const style = getComputedStyle(shape), fill = parseColour(style.fill);
    return !!fill && fill[3] * Number(style.fillOpacity) > 0.5 && !sameColour(fill, ink) && isShownAtAll(shape);
  });
};

// Most elements change none of these and share their parent's. Each property is read once, as this takes most of a walk's
// time.
const lookInside = (element, style, outer, overflow = style.overflow) => {
  let look = outer;
  const set = (changes) => { look = look === outer ? { ...outer, ...changes } : Object.assign(look, changes); };
  const { position, filter, maskImage } = style, opacity = Number(style.opacity), showsNoBack = style.backfaceVisibility === 'hidden';
  if (filter !== 'none' && /opacity\(0(\.0\d*)?%?\)|blur\((?:[5-9]|\d\d)/.test(filter)) set({ opacity: 0 });
  else if (opacity !== 1) set({ opacity: outer.opacity * opacity });
  const mask = gradientColours(maskImage ?? 'none');
  if (mask.length && mask.every((colour) => colour[3] <= TRANSPARENT)) set({ gone: 'invisible' });
  else if (farAway(element, style, position)) set({ gone: 'off-screen' });
  else if (clippedAway(element, style, position) || (showsNoBack && turnedAway(style))) set({ gone: 'invisible' });
  if (element.tagName === 'text') {
    const ink = style.fill === 'none' || Number(style.fillOpacity) <= TRANSPARENT ? [0, 0, 0, 0] : parseColour(style.fill);
    set({ ink, ...(ink && outer.back && sameColour(ink, outer.back) && standsOnShape(element, ink) ? { back: null } : {}) });
  }
  const back = groundOf(style);
  if (!back || (back[3] > 0.02 && back[3] <= 0.9)) set({ back: null });
  else if (back[3] > 0.9) set({ back });
  if (position === 'fixed') set({ pinned: look.pinned || !outward(element, isMoved), clip: null, roll: null });
  else if (position === 'absolute') set({ clip: outer.fixedClip, roll: outer.fixedRoll });
  if (showsNoBack && getComputedStyle(composedParent(element) ?? element).transformStyle === 'preserve-3d') set({ turns: true });
  if (overflow !== 'visible' && element !== document.body && element !== document.documentElement) {
    const hides = HIDING_OVERFLOW.test(overflow), canScroll = ROLLING_OVERFLOW.test(overflow);
    const box = element.getBoundingClientRect();
    if (hides) set({ clip: look.clip ? cut(look.clip, box) : box });
    // Content in a scrollable list can be scrolled to if the list itself is visible.
    if (canScroll && !hiddenByPosition(look, box)) set({ clip: null, roll: { box, left: box.left - element.scrollLeft, top: box.top - element.scrollTop } });
  }
  if (position !== 'static' && (look.fixedClip !== look.clip || look.fixedRoll !== look.roll)) set({ fixedClip: look.clip, fixedRoll: look.roll });
  return look;
};

const cut = (a, b) => ({
  left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
  right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
});

// '' if the text can be seen, or else the reason why not. Text below the fold can be scrolled to.
const textHidden = (style, look, rect) => hiddenByStyle(style, look) || hiddenByPosition(look, rect);

// The same, based on colour, size and ancestors, regardless of position.
const hiddenByStyle = (style, look) => {
  if (look.gone) return look.gone;
  if (look.opacity <= TRANSPARENT || parseFloat(style.fontSize) <= TINY_FONT_PX) return 'invisible';
  const fill = look.ink ?? parseColour(style.webkitTextFillColor) ?? parseColour(style.color);
  if (!fill || (fill[3] > TRANSPARENT && !(look.back && sameColour(fill, look.back)))) return '';
  const isShaded = style.textShadow !== 'none' || parseFloat(style.webkitTextStrokeWidth) > 0;
  return isShaded || style.backgroundClip === 'text' ? '' : 'invisible';
};

const hiddenByPosition = (look, rect) => {
  if (look.gone) return look.gone;
  if (look.opacity <= TRANSPARENT || rect.width < 2 || rect.height < 2) return 'invisible';
  const from = look.roll ?? look.page;
  if (rect.right - from.left <= 1 || rect.bottom - from.top <= 1) return 'off-screen';
  if (!look.roll && rect.left >= look.page.right) return 'off-screen';
  if (look.pinned && (rect.top >= innerHeight || rect.left >= innerWidth)) return 'off-screen'; // fixed: it cannot be scrolled to
  if (!look.clip) return '';
  const seen = cut(rect, look.clip);
  return seen.right - seen.left > 1 && seen.bottom - seen.top > 1 ? '' : 'invisible';
};

const isBlock = (display) => display !== 'inline' && display !== 'contents' && !display.startsWith('inline') && !display.startsWith('ruby');

// Whether an element on top, or one of its ancestors up to the covered element's, is opaque.
const paints = (hit, element) => {
  for (let at = hit; at && !(element && at.contains(element)); at = composedParent(at)) {
    if (/^(IMG|VIDEO|CANVAS|IFRAME)$/.test(at.tagName)) return true;
    const style = getComputedStyle(at);
    if (Number(style.opacity) < 0.9) return false;
    const gradient = gradientColours(style.backgroundImage);
    if (parseColour(style.backgroundColor)?.[3] > OPAQUE || /url\(/.test(style.backgroundImage) || (gradient.length && gradient.every((colour) => colour[3] > OPAQUE))) return true;
  }
  return false;
};

// Whether two shapes in a drawing belong to the same group, like a node and its label.
const isDrawnWith = (hit, element) => !!element.ownerSVGElement && element.parentNode.localName === 'g' && element.parentNode.contains(hit);

// Returns a test for whether the centre of an element's box is covered: by anything, or only by something opaque.
const MAX_HIT_TESTS = 700; // per walk; each needs a hit test
const hitTester = () => {
  const { innerWidth: width, innerHeight: height } = globalThis;
  const hits = new Map(); // by whole pixels: a link and its text have the same centre
  let left = MAX_HIT_TESTS;
  const hitAt = (x, y) => {
    const at = Math.round(x) + Math.round(y) * width;
    if (!hits.has(at)) hits.set(at, deepHit(x, y));
    return hits.get(at);
  };
  return (element, rect, opaqueOnly, roll) => {
    const x = rect.left + rect.width / 2, y = rect.top + rect.height / 2;
    if (left <= 0 || x < 0 || y < 0 || x >= width || y >= height) return false;
    if (roll && (y < roll.box.top || y > roll.box.bottom || x < roll.box.left || x > roll.box.right)) return false; // scrolled away, not covered
    left -= 1;
    const hit = hitAt(x, y);
    return !!hit && !related(hit, element) && !isDrawnWith(hit, element) && (!opaqueOnly || paints(hit, element));
  };
};
