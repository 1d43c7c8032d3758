// What tells a thing without a name from its neighbours: class, data, icon, colour, shape, size, place.
const describe = (element, style) => {
  const parts = [];
  const drawn = element.namespaceURI?.endsWith('svg') && element.tagName !== 'svg';
  if (element.id && element.id.length <= 30) parts.push('#' + element.id);
  const names = [...element.classList].filter((name) => name.length <= 30 && !/^(css|sc|jsx?)-?\w*\d/.test(name));
  if (names.length) parts.push('.' + names.slice(0, 3).join('.'));
  for (const { name, value } of element.attributes) {
    if (name.startsWith('data-') && value && value.length <= 24 && parts.length < 4) parts.push(`${name.slice(5)}=${value}`);
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
  return [...parts, ...measures(element, style)].join(' ');
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

const CORNERS = { 3: 'triangle', 5: 'pentagon', 6: 'hexagon', 7: 'heptagon', 8: 'octagon' };
const shapeName = (element) => {
  const tag = element.tagName;
  if (tag === 'rect') return Math.abs(element.width.baseVal.value - element.height.baseVal.value) < 1 ? 'square' : 'rectangle';
  if (tag !== 'polygon' && tag !== 'polyline') return tag === 'g' ? drawnIn(element) : tag;
  const points = [...element.points];
  if (points.length !== 4) return CORNERS[points.length] ?? `${tag} of ${points.length} points`;
  const upright = points.every((point, at) => {
    const next = points[(at + 1) % 4];
    return Math.abs(point.x - next.x) < 1 || Math.abs(point.y - next.y) < 1;
  });
  const { width, height } = element.getBBox();
  return !upright ? 'quadrilateral' : Math.abs(width - height) < 1 ? 'square' : 'rectangle';
};
const drawnIn = (group) => {
  const shape = group.querySelector('rect,circle,ellipse,polygon,polyline,line');
  return shape ? shapeName(shape) : 'group';
};

const paintOf = (element, style) => {
  const shape = element.tagName === 'g' ? element.querySelector('rect,circle,ellipse,polygon,polyline,line,path') : null;
  const look = shape ? getComputedStyle(shape) : style;
  return [look.fill, look.stroke].map(parseColour).find((colour) => colour && colour[3] > 0.1);
};

// `triangle green 20×18 at 60,21`: the middle, in pixels from the corner of its picture.
const shapeOf = (element, style) => {
  const box = element.getBoundingClientRect();
  const corner = element.ownerSVGElement?.getBoundingClientRect() ?? { left: 0, top: 0 };
  const colour = paintOf(element, style);
  const middle = `at ${Math.round(box.left + box.width / 2 - corner.left)},${Math.round(box.top + box.height / 2 - corner.top)}`;
  return [shapeName(element), colour ? colourName(colour) : '', sizeOf(box), middle].filter(Boolean).join(' ');
};

// A drawing's shapes, where it has few: a chart's bars, the figures of a task. Icons are smaller.
const DRAWING_FROM = 40, SHAPES_SHOWN = 24, SHAPES_KNOWN = 60;
const drawingOf = (svg, actionableShapes) => {
  const box = svg.getBoundingClientRect();
  if (box.width < DRAWING_FROM || box.height < DRAWING_FROM) return '';
  const shapes = [...svg.querySelectorAll('rect,circle,ellipse,polygon,polyline,line')].filter((shape) => !actionableShapes(shape) && !shape.closest('defs,clipPath,mask,symbol,pattern'));
  if (!shapes.length || shapes.length > SHAPES_KNOWN) return '';
  const told = shapes.map((shape) => [shape, getComputedStyle(shape)]).filter(([shape, style]) => style.visibility === 'visible' && paintOf(shape, style)).map(([shape, style]) => shapeOf(shape, style));
  const more = told.length > SHAPES_SHOWN ? `; ${told.length - SHAPES_SHOWN} more` : '';
  return told.slice(0, SHAPES_SHOWN).join('; ') + more;
};

// `scrolls, 100 of 2400 pixels`: what a list of its own shows, and that there is more.
const SCROLLS_FROM = 40;
const scrollsOf = (element, style) => {
  if (!/auto|scroll/.test(style.overflowY) || element === document.body || element === document.documentElement) return '';
  if (element.clientHeight < SCROLLS_FROM || element.scrollHeight < element.clientHeight * 1.2 || element.tagName === 'TEXTAREA' || element.tagName === 'SELECT') return '';
  const from = Math.round(element.scrollTop);
  return `scrolls, ${from} to ${from + element.clientHeight} of ${element.scrollHeight} pixels`;
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
  return ['box', filled ? colourName(colour) : 'framed', sizeOf(rect), loose || part].filter(Boolean).join(' ');
};

const NAMED_COLOURS = {
  black: [0, 0, 0], white: [255, 255, 255], grey: [128, 128, 128], red: [255, 0, 0], green: [0, 128, 0],
  lime: [0, 255, 0], blue: [0, 0, 255], yellow: [255, 255, 0], orange: [255, 165, 0], purple: [128, 0, 128],
  pink: [255, 192, 203], brown: [165, 42, 42], cyan: [0, 255, 255], magenta: [255, 0, 255], teal: [0, 128, 128],
  navy: [0, 0, 128], maroon: [128, 0, 0], olive: [128, 128, 0], gold: [255, 215, 0], violet: [238, 130, 238],
};
const HUES = [[15, 'red'], [42, 'orange'], [68, 'yellow'], [165, 'green'], [195, 'cyan'], [255, 'blue'], [290, 'purple'], [335, 'magenta'], [361, 'red']];
const GREYISH = 24; // between the strongest and the weakest channel
const DARK = 0.34, LIGHT = 0.78;

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
