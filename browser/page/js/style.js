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

const clippedAway = (style) => {
  const path = style.clipPath;
  if (path !== 'none') {
    const inset = /^inset\(([\d.]+)(%|px)?(?:\s+([\d.]+)%)?/.exec(path);
    if (inset && inset[2] === '%' && Number(inset[1]) >= 50) return true;
    if (/^(circle|ellipse)\(0(px|%)?[\s)]|^path\("M 0 0"\)$/.test(path)) return true;
    if (/^(rect\((0(px|%)? ?){4}\)|inset\((0(px|%)? )*100%)/.test(path)) return true;
    if (/^polygon\((0(px|%)? 0(px|%)?(, )?)+\)$/.test(path)) return true;
  }
  if (style.clip !== 'auto' && style.clip !== '') {
    const sides = style.clip.match(/-?[\d.]+/g)?.map(Number);
    if (sides?.length === 4 && (sides[2] - sides[0] <= 1 || sides[1] - sides[3] <= 1)) return true;
  }
  return false;
};

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
  if (clippedAway(style)) look.gone = 'invisible';
  if (style.maskImage && /^linear-gradient\((rgba\(0, 0, 0, 0\)|transparent)[^#]*\)$/.test(style.maskImage)
      && !/rgb\(/.test(style.maskImage)) look.gone = 'invisible';
  if (element.tagName === 'text') look.ink = style.fill === 'none' || Number(style.fillOpacity) <= TRANSPARENT ? [0, 0, 0, 0] : parseColour(style.fill);
  const back = parseColour(style.backgroundColor);
  if (style.backgroundImage !== 'none') look.back = null;
  else if (back && back[3] > 0.9) look.back = back;
  else if (back && back[3] > 0.02) look.back = null;
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
