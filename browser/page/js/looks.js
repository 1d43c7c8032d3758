// What tells a thing without a name from its neighbours: class, data, icon, colour, shape, size, place.
const describe = (element, style) => {
  const parts = [];
  const control = element.tagName === 'LABEL' ? element.control : null;
  if (control?.name && control.value) parts.push(`${control.name}=${control.value}`.slice(0, 30));
  const drawn = element.namespaceURI?.endsWith('svg') && element.tagName !== 'svg';
  if (element.id && element.id.length <= 30) parts.push('#' + element.id);
  const names = [...element.classList].filter((name) => name.length <= 30 && !/^(css|sc|jsx?)-?\w*\d|(?=[a-z\d]*\d[a-z]+\d)[a-z\d]{6,}/.test(name)); // none that a build made up
  if (names.length) parts.push('.' + names.slice(0, 3).join('.'));
  for (const { name, value } of element.attributes) {
    if (name.startsWith('data-') && value && value !== 'false' && value.length <= 24 && parts.length < 4) parts.push(`${name.slice(5)}=${value}`);
  }
  const icon = element.querySelector('svg use, svg[class], i[class], img[src]');
  if (icon) {
    const named = icon.getAttribute('href') ?? icon.getAttribute('xlink:href') ?? icon.getAttribute('src') ?? icon.getAttribute('class');
    const tail = /^data:/.test(named ?? '') ? '' : squash(named).split(/[/#]/).pop();
    if (tail) parts.push('icon ' + tail.slice(0, 30));
  }
  if (!style) return parts.join(' '); // a field's colour tells nothing
  if (drawn) return [...parts, shapeOf(element, style)].join(' ');
  const colour = parseColour(style.backgroundColor);
  if (colour && colour[3] > (parts.length ? 0.5 : 0.1) && !(parts.length && sameColour(colour, [255, 255, 255]))) parts.push('colour ' + colourName(colour));
  return [...parts, ...(colour && colour[3] > 0.5 && isRound(element, style) ? ['round'] : []), ...measures(element, style)].join(' ');
};

// A disc, not a button with soft corners.
const isRound = (element, style) => {
  const { width, height } = element.getBoundingClientRect();
  return Math.abs(width - height) < 2 && (style.borderTopLeftRadius.endsWith('%') ? parseFloat(style.borderTopLeftRadius) >= 50 : parseFloat(style.borderTopLeftRadius) >= width / 2 - 1) && width >= BOX_FROM;
};

// Sizes of what one clicks into or drags about: pictures, empty areas, what stands where it likes.
const AREA_FROM = 60; // pixels, from which on the point that is clicked may matter
const measures = (element, style) => {
  const box = element.getBoundingClientRect();
  const loose = style.position === 'absolute' || style.position === 'fixed';
  if (!loose && Math.max(box.width, box.height) < AREA_FROM) return [];
  if (!loose) return [sizeOf(box)];
  return [sizeOf(box), `at ${Math.round(box.left)},${Math.round(box.top)}`, withinWhat(element.offsetParent)].filter(Boolean);
};
// The track of a knob, the frame of a bar: what the size or the place of a thing is a part of.
const TRACK_TO = 600;
const withinWhat = (outer) => {
  if (!outer || outer === document.body) return '';
  const box = outer.getBoundingClientRect();
  return box.width < TRACK_TO && box.height < TRACK_TO ? `in ${sizeOf(box)}` : '';
};
const sizeOf = (box) => `${Math.round(box.width)}×${Math.round(box.height)}`;

// `0 to 90 of 2400 pixels`: what a list of its own shows, and that there is more; or a strip, sideways.
const SCROLLS_FROM = 40;
const scrollsOf = (element, style) => {
  if (element === document.body || element === document.documentElement || /^(TEXTAREA|SELECT)$/.test(element.tagName)) return '';
  if (!ROLLING_OVERFLOW.has(style.overflowY) && !ROLLING_OVERFLOW.has(style.overflowX)) return '';
  const { clientHeight: high, clientWidth: wide, scrollHeight, scrollWidth } = element;
  const told = (from, shown, all) => `${Math.round(from)} to ${Math.round(from) + shown} of ${all} pixels`;
  if (ROLLING_OVERFLOW.has(style.overflowY) && high >= SCROLLS_FROM && scrollHeight >= high * 1.2) return told(element.scrollTop, high, scrollHeight);
  if (ROLLING_OVERFLOW.has(style.overflowX) && wide >= SCROLLS_FROM && scrollWidth >= wide * 1.2) return told(element.scrollLeft, wide, scrollWidth) + ' sideways';
  return '';
};

// An empty box that a person sees by its colour or border: a swatch, a bar, a block, a place to drop.
const BOX_FROM = 5, BOX_TO = 200, FRAME_FROM = 30;
const boxOf = (element, style, look, rect) => {
  if (rect.width < BOX_FROM || rect.height < BOX_FROM || rect.width > BOX_TO || rect.height > BOX_TO) return '';
  if (element.childElementCount || squash(element.textContent) || style.backgroundImage !== 'none') return '';
  const colour = parseColour(style.backgroundColor);
  const filled = colour && colour[3] > 0.5 && (!look || !sameColour(colour, look));
  const framed = ['Top', 'Right', 'Bottom', 'Left'].every((side) => style[`border${side}Style`] !== 'none' && parseFloat(style[`border${side}Width`]) > 0);
  if (!filled && !(framed && rect.width >= FRAME_FROM && rect.height >= FRAME_FROM)) return '';
  const loose = style.position === 'absolute' ? `at ${Math.round(rect.left)},${Math.round(rect.top)}` : '';
  const part = element.parentElement?.childElementCount === 1 && !element.previousSibling?.data?.trim() ? withinWhat(element.parentElement) : '';
  return [isRound(element, style) ? 'disc' : 'box', spare(element), filled ? colourName(colour) : 'framed', sizeOf(rect), loose || part].filter(Boolean).join(' ');
};

const NAMED_COLOURS = {
  black: [0, 0, 0], white: [255, 255, 255], grey: [128, 128, 128], red: [255, 0, 0], green: [0, 128, 0],
  lime: [0, 255, 0], blue: [0, 0, 255], yellow: [255, 255, 0], orange: [255, 165, 0], purple: [128, 0, 128],
  pink: [255, 192, 203], brown: [165, 42, 42], cyan: [0, 255, 255], magenta: [255, 0, 255], teal: [0, 128, 128],
  navy: [0, 0, 128], maroon: [128, 0, 0], olive: [128, 128, 0], gold: [255, 215, 0], violet: [238, 130, 238],
};
/** @type {[number, string][]} */
const HUES = [[15, 'red'], [42, 'orange'], [68, 'yellow'], [165, 'green'], [195, 'cyan'], [255, 'blue'], [290, 'purple'], [335, 'magenta'], [361, 'red']];
const GREYISH = 24; // between the strongest and the weakest channel
const DARK = 0.34, LIGHT = 0.78;

const isColoured = (colour) => !!colour && Math.max(...colour.slice(0, 3)) - Math.min(...colour.slice(0, 3)) > GREYISH;

// What a person would call it: by its hue, dark or light; and in figures, where it has no exact name.
const colourName = (colour) => {
  const channels = colour.slice(0, 3).map(Math.round);
  const exact = Object.entries(NAMED_COLOURS).find(([, value]) => value.every((channel, i) => channel === channels[i]));
  if (exact) return exact[0];
  const most = Math.max(...channels), least = Math.min(...channels), span = most - least;
  const light = (most + least) / 510;
  const shade = light < DARK ? 'dark ' : light > LIGHT ? 'light ' : '';
  const hex = '#' + channels.map((channel) => channel.toString(16).padStart(2, '0')).join('');
  if (span <= GREYISH) return `${light < 0.1 ? 'black' : light > 0.95 ? 'white' : shade + 'grey'} ${hex}`;
  const [r, g, b] = channels;
  const turn = most === r ? ((g - b) / span + 6) % 6 : most === g ? (b - r) / span + 2 : (r - g) / span + 4;
  const hue = HUES.find(([to]) => turn * 60 < to)[1];
  const name = hue === 'orange' && light < 0.4 ? 'brown' : hue === 'magenta' && light > 0.65 ? 'pink' : shade + hue;
  return `${name} ${hex}`;
};
