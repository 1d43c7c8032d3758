// What a person can see: colours, clipping, opacity, geometry.
const TRANSPARENT = 0.08; // text fainter than this cannot be read
const SAME_COLOUR = 24; // sum of channel distances below which text melts into its background
const TINY_FONT_PX = 2;
const colours = new Map();

// Other notations than rgb, by painting a pixel in them.
const drawnColour = (text) => {
  const brush = new OffscreenCanvas(1, 1).getContext('2d');
  brush.fillStyle = text;
  brush.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = brush.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, alpha / 255];
};

const parseColour = (text) => {
  let found = colours.get(text);
  if (found === undefined) {
    const numbers = /^(?:ok)?l(?:ab|ch)\(|^color\(/.test(text) ? drawnColour(text) : /^rgba?\(([^)]+)\)/.exec(text)?.[1].split(/[\s,/]+/).filter(Boolean).map(Number);
    found = numbers && numbers.length >= 3 ? [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1] : null;
    colours.set(text, found);
  }
  return found;
};

const sameColour = (a, b) =>
  Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]) <= SAME_COLOUR;

// What an element hands down to what is inside it.
const ROOT_LOOK = { opacity: 1, back: [255, 255, 255, 1], clip: null, fixedClip: null, roll: null, fixedRoll: null, turns: false, moved: false, pinned: false, gone: '' };

// The corners of what `clip-path` leaves of a box, in its own pixels; the box itself where that cannot be told.
const lengthOf = (text, whole) => (text.endsWith('%') ? (parseFloat(text) / 100) * whole : parseFloat(text) || 0);
const leftOfClip = (path, width, height) => {
  const [, shape, inner] = /^(\w+)\((.*)\)/.exec(path) ?? [];
  const parts = (inner ?? '').split(/\s+at\s+|,?\s+round\s+/);
  const sides = (parts[0] ?? '').trim().split(/[\s,]+/);
  if (shape === 'inset') {
    const [top, right = top, bottom = top, left = right] = sides;
    return [lengthOf(left, width), lengthOf(top, height), width - lengthOf(right, width), height - lengthOf(bottom, height)];
  }
  if (shape === 'rect') return [lengthOf(sides[3], width), lengthOf(sides[0], height), sides[1] === 'auto' ? width : lengthOf(sides[1], width), sides[2] === 'auto' ? height : lengthOf(sides[2], height)];
  if ((shape === 'circle' || shape === 'ellipse') && !/[a-z]-/.test(inner)) {
    const [x, y] = (parts[1] ?? '50% 50%').split(/\s+/), across = lengthOf(sides[0], width), down = lengthOf(sides[1] ?? sides[0], height);
    return [lengthOf(x, width) - across, lengthOf(y, height) - down, lengthOf(x, width) + across, lengthOf(y, height) + down];
  }
  if (shape === 'polygon') {
    const points = inner.replace(/^(nonzero|evenodd),\s*/, '').split(/,\s*/).map((point) => point.trim().split(/\s+/));
    const xs = points.map(([x]) => lengthOf(x, width)), ys = points.map(([, y]) => lengthOf(y ?? '0', height));
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  }
  if (shape === 'path' && /^"M 0 0"$/.test(inner)) return [0, 0, 0, 0];
  return [0, 0, width, height];
};

const clippedAway = (element, style) => {
  if (style.clipPath !== 'none') {
    const named = /^url\("#(.+)"\)$/.exec(style.clipPath);
    const holder = named && element.getRootNode().getElementById?.(named[1]);
    if (holder) return !holder.childElementCount;
    const { offsetWidth: width = 0, offsetHeight: height = 0 } = element;
    const [left, top, right, bottom] = leftOfClip(style.clipPath, width, height);
    if (width && height && (Math.min(right, width) - Math.max(left, 0) <= 1 || Math.min(bottom, height) - Math.max(top, 0) <= 1)) return true;
  }
  if (style.clip !== 'auto' && style.clip !== '') {
    const sides = style.clip.match(/-?[\d.]+/g)?.map(Number);
    if (sides?.length === 4 && (sides[2] - sides[0] <= 1 || sides[1] - sides[3] <= 1)) return true;
  }
  return false;
};

// The colours of a picture that is nothing but gradients; none where it is any other.
const gradientColours = (image) => {
  if (!/^[\w-]*gradient\(/.test(image) || /url\(|image\(/.test(image)) return [];
  const found = (image.match(/(?:rgba?|ok(?:lab|lch)|lab|lch|color)\([^()]*\)/g) ?? []).map(parseColour);
  return found.every(Boolean) ? found : [];
};

// What lies behind text: the colour of a ground, also of a gradient that has but one; null where it is a picture.
const groundOf = (style) => {
  const colours = gradientColours(style.backgroundImage);
  if (colours.length && colours.every((colour) => colour[3] > 0.9 && sameColour(colour, colours[0]))) return colours[0];
  return style.backgroundImage === 'none' ? parseColour(style.backgroundColor) : null;
};

// Its own back turned to us, and that not drawn.
const turnedAway = (style) => style.backfaceVisibility === 'hidden' && style.transform.startsWith('matrix3d') && new DOMMatrixReadOnly(style.transform).m33 < 0;

// Beyond any window: it is reached by scrolling sideways only, where nobody goes.
const FAR_RIGHT = 5000;
const farAway = (element, style) => (style.position === 'absolute' || style.position === 'fixed') && parseFloat(style.left) >= FAR_RIGHT
  && element.getBoundingClientRect().left + scrollX >= FAR_RIGHT;

const cut = (a, b) => ({
  left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
  right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
});

const overlaps = (rect, clip) =>
  Math.min(rect.right, clip.right) - Math.max(rect.left, clip.left) > 1 &&
  Math.min(rect.bottom, clip.bottom) - Math.max(rect.top, clip.top) > 1;

const HIDING_OVERFLOW = new Set(['hidden', 'clip']);

const lookInside = (element, style, outer) => {
  const look = { ...outer };
  look.opacity = outer.opacity * Number(style.opacity);
  if (style.filter !== 'none' && /opacity\(0(\.0\d*)?%?\)|blur\((?:[5-9]|\d\d)/.test(style.filter)) look.opacity = 0;
  if (clippedAway(element, style) || turnedAway(style)) look.gone = 'invisible';
  if (farAway(element, style)) look.gone = 'off-screen';
  const mask = gradientColours(style.maskImage ?? 'none');
  if (mask.length && mask.every((colour) => colour[3] <= TRANSPARENT)) look.gone = 'invisible';
  if (element.tagName === 'text') look.ink = style.fill === 'none' || Number(style.fillOpacity) <= TRANSPARENT ? [0, 0, 0, 0] : parseColour(style.fill);
  const back = groundOf(style);
  if (!back) look.back = null;
  else if (back[3] > 0.9) look.back = back;
  else if (back[3] > 0.02) look.back = null;
  if (style.transform !== 'none') look.moved = true; // what is fixed in it is fixed to it
  if (style.position === 'fixed' && !look.moved) look.pinned = true;
  if (style.position === 'fixed') look.clip = look.roll = null;
  else if (style.position === 'absolute') [look.clip, look.roll] = [outer.fixedClip, outer.fixedRoll];
  if (style.backfaceVisibility === 'hidden' && getComputedStyle(composedParent(element) ?? element).transformStyle === 'preserve-3d') look.turns = true;
  if (HIDING_OVERFLOW.has(style.overflowX) || HIDING_OVERFLOW.has(style.overflowY)) {
    if (element !== document.body && element !== document.documentElement) {
      const box = element.getBoundingClientRect();
      look.clip = look.clip ? cut(look.clip, box) : box;
    }
  }
  if (ROLLING_OVERFLOW.has(style.overflowX) || ROLLING_OVERFLOW.has(style.overflowY)) rollInside(element, look);
  if (style.position !== 'static') [look.fixedClip, look.fixedRoll] = [look.clip, look.roll];
  return look;
};

// What lies in a list that scrolls can be scrolled to, wherever it is now, if the list itself can be seen.
const ROLLING_OVERFLOW = new Set(['auto', 'scroll']);
const rollInside = (element, look) => {
  if (element === document.body || element === document.documentElement) return;
  const box = element.getBoundingClientRect();
  if (boxHidden(look, box)) return;
  look.clip = null;
  look.roll = { box, left: box.left - element.scrollLeft, top: box.top - element.scrollTop };
};

// '' when the text can be seen, else why not. Positions below the fold can be seen by scrolling.
const textHidden = (style, look, rect) => inkHidden(style, look) || boxHidden(look, rect);

// The same by colour, size and what is around it, wherever it stands.
const inkHidden = (style, look) => {
  if (look.gone) return look.gone;
  if (look.opacity <= TRANSPARENT) return 'invisible';
  if (parseFloat(style.fontSize) <= TINY_FONT_PX) return 'invisible';
  const fill = look.ink ?? parseColour(style.webkitTextFillColor) ?? parseColour(style.color);
  const paintedByBackground = style.webkitBackgroundClip === 'text' || style.backgroundClip === 'text';
  const shaded = style.textShadow !== 'none' || parseFloat(style.webkitTextStrokeWidth) > 0;
  if (fill && !shaded && !paintedByBackground) {
    if (fill[3] <= TRANSPARENT) return 'invisible';
    if (look.back && sameColour(fill, look.back)) return 'invisible';
  }
  return '';
};

const boxHidden = (look, rect) => {
  if (look.gone) return look.gone;
  if (look.opacity <= TRANSPARENT) return 'invisible';
  if (rect.width < 2 || rect.height < 2) return 'invisible';
  const root = document.scrollingElement ?? document.documentElement;
  const from = look.roll ?? { left: -scrollX, top: -scrollY };
  if (rect.right - from.left <= 1 || rect.bottom - from.top <= 1) return 'off-screen';
  if (!look.roll && rect.left + scrollX >= Math.max(root.scrollWidth, innerWidth)) return 'off-screen';
  if (look.pinned && (rect.top >= innerHeight || rect.left >= innerWidth)) return 'off-screen'; // no scrolling leads there
  if (look.clip && !overlaps(rect, look.clip)) return 'invisible';
  return '';
};
