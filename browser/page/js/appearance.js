// How things look, in words: colours, sizes, places and shapes tell a thing without a name from its neighbours.
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

// Class, data, icon, colour, shape, size and place of an element. Without a style: of a field, whose colour says nothing.
const MADE_UP_CLASS = /^(css|sc|jsx?)-?\w*\d|(?=[a-z\d]*\d[a-z]+\d)[a-z\d]{6,}/; // by a build
const describe = (element, style) => {
  const parts = [];
  const control = element.tagName === 'LABEL' ? element.control : null;
  if (control?.name && control.value) parts.push(`${control.name}=${control.value}`.slice(0, 30));
  if (element.id && element.id.length <= 30) parts.push('#' + element.id);
  const names = [...element.classList].filter((name) => name.length <= 30 && !MADE_UP_CLASS.test(name));
  if (names.length) parts.push('.' + names.slice(0, 3).join('.'));
  for (const { name, value } of element.attributes) {
    if (name.startsWith('data-') && value && value !== 'false' && value.length <= 24 && parts.length < 4) parts.push(`${name.slice(5)}=${value}`);
  }
  const icon = element.querySelector('svg use, svg[class], i[class], img[src]');
  const source = ['href', 'xlink:href', 'src', 'class'].map((name) => icon?.getAttribute(name)).find((value) => value != null) ?? '';
  const tail = source.startsWith('data:') ? '' : squash(source).split(/[/#]/).pop();
  if (tail) parts.push('icon ' + tail.slice(0, 30));
  if (!style) return parts.join(' ');
  if (element.namespaceURI?.endsWith('svg') && element.tagName !== 'svg') return [...parts, shapeOf(element, style)].join(' ');
  const colour = parseColour(style.backgroundColor);
  const round = colour && colour[3] > 0.5 && isRound(element, style) ? ['round'] : [];
  if (colour && colour[3] > (parts.length ? 0.5 : 0.1) && !(parts.length && sameColour(colour, [255, 255, 255]))) parts.push('colour ' + colourName(colour));
  return [...parts, ...round, ...measures(element, style)].join(' ');
};

// A disc, not a button with soft corners.
const isRound = (element, style) => {
  const { width, height } = element.getBoundingClientRect(), corner = style.borderTopLeftRadius;
  return width >= BOX_FROM && Math.abs(width - height) < 2 && parseFloat(corner) >= (corner.endsWith('%') ? 50 : width / 2 - 1);
};

// Sizes of what one clicks into or drags about: pictures, empty areas, what stands where it likes.
const AREA_FROM = 60; // pixels, from which on the point that is clicked may matter
const measures = (element, style) => {
  const box = element.getBoundingClientRect();
  if (style.position === 'absolute' || style.position === 'fixed') return [sizeOf(box), `at ${Math.round(box.left)},${Math.round(box.top)}`, withinWhat(element.offsetParent)].filter(Boolean);
  return Math.max(box.width, box.height) < AREA_FROM ? [] : [sizeOf(box)];
};
// The track of a knob, the frame of a bar: what the size or the place of a thing is a part of.
const TRACK_TO = 600;
const withinWhat = (outer) => {
  if (!outer || outer === document.body) return '';
  const box = outer.getBoundingClientRect();
  return box.width < TRACK_TO && box.height < TRACK_TO ? `in ${sizeOf(box)}` : '';
};

// `0 to 90 of 2400 pixels`: what a list of its own shows, and that there is more; or a strip, sideways.
const SCROLLS_FROM = 40;
const scrollsOf = (element, style) => {
  if (element === document.body || element === document.documentElement || /^(TEXTAREA|SELECT)$/.test(element.tagName)) return '';
  const told = (overflow, from, shown, all) => (ROLLING_OVERFLOW.has(overflow) && shown >= SCROLLS_FROM && all >= shown * 1.2
    ? `${Math.round(from)} to ${Math.round(from) + shown} of ${all} pixels` : '');
  const down = told(style.overflowY, element.scrollTop, element.clientHeight, element.scrollHeight);
  if (down) return down;
  const across = told(style.overflowX, element.scrollLeft, element.clientWidth, element.scrollWidth);
  return across && `${across} sideways`;
};

// An empty box that a person sees by its colour or border: a swatch, a bar, a block, a place to drop.
const BOX_FROM = 5, BOX_TO = 200, FRAME_FROM = 30;
const boxOf = (element, style, back, rect) => {
  if (Math.min(rect.width, rect.height) < BOX_FROM || Math.max(rect.width, rect.height) > BOX_TO) return '';
  if (element.childElementCount || squash(element.textContent) || style.backgroundImage !== 'none') return '';
  const colour = parseColour(style.backgroundColor);
  const filled = colour && colour[3] > 0.5 && (!back || !sameColour(colour, back));
  const framed = ['Top', 'Right', 'Bottom', 'Left'].every((side) => style[`border${side}Style`] !== 'none' && parseFloat(style[`border${side}Width`]) > 0);
  if (!filled && !(framed && Math.min(rect.width, rect.height) >= FRAME_FROM)) return '';
  const loose = style.position === 'absolute' ? `at ${Math.round(rect.left)},${Math.round(rect.top)}` : '';
  const part = element.parentElement?.childElementCount === 1 && !element.previousSibling?.data?.trim() ? withinWhat(element.parentElement) : '';
  return [isRound(element, style) ? 'disc' : 'box', spareName(element), filled ? colourName(colour) : 'framed', sizeOf(rect), loose || part].filter(Boolean).join(' ');
};

// A board: cells side by side in rows and columns, most of them empty. What stands in it means something by its
// place, so it is read as a table. Gives rows of texts, or null where the element is no board.
const BOARD_FROM = 6, BOARD_TO = 400, BOARD_FILLED = 0.7;
const CELL_WORDS = 8; // characters; what says more is no piece on a board
const boardOf = (element) => {
  const cells = [...element.children];
  if (cells.length < BOARD_FROM || cells.length > BOARD_TO) return null;
  if (cells.some((cell) => cell.firstElementChild || cell.tagName !== cells[0].tagName || cell.textContent.length > CELL_WORDS)) return null;
  const texts = cells.map((cell) => squash(cell.textContent)), filled = texts.filter(Boolean).length;
  if (!filled || filled > cells.length * BOARD_FILLED) return null;
  const boxes = cells.map((cell) => cell.getBoundingClientRect());
  if (boxes.some((box) => box.width < BOX_FROM || box.height < BOX_FROM)) return null;
  const [tops, lefts] = gridOf(boxes);
  if (tops.length < 2 || lefts.length < 2 || tops.length * lefts.length !== boxes.length) return null;
  const rows = tops.map(() => lefts.map(() => ''));
  texts.forEach((text, at) => { rows[tops.indexOf(Math.round(boxes[at].top))][lefts.indexOf(Math.round(boxes[at].left))] = text; });
  return rows;
};

// Where an element without anything to tell it apart stands among many alike: "row 2, column 3".
const GRID_FROM = 4, GRID_TO = 900;
let places = new Map(); // parent -> Map(child -> words), within one walk
const placeOf = (element) => {
  const parent = element.parentElement;
  if (!parent || parent.childElementCount < GRID_FROM || parent.childElementCount > GRID_TO) return '';
  if (!places.has(parent)) places.set(parent, placesIn([...parent.children].filter((child) => child.tagName === element.tagName)));
  return places.get(parent).get(element) ?? '';
};
const placesIn = (children) => {
  if (children.length < GRID_FROM) return new Map();
  const boxes = children.map((child) => child.getBoundingClientRect());
  const [tops, lefts] = gridOf(boxes);
  return new Map(children.map((child, at) => {
    const row = tops.indexOf(Math.round(boxes[at].top)) + 1, column = lefts.indexOf(Math.round(boxes[at].left)) + 1;
    if (tops.length > 1 && lefts.length > 1) return [child, `row ${row}, column ${column}`];
    return [child, `${tops.length === 1 ? column : row} of ${children.length}`];
  }));
};

// Whether something beside it has the same class, data and colour.
const TWINS_LOOKED_AT = 60;
const hasTwin = (element, style) => !element.id && [...(element.parentElement?.children ?? [])].slice(0, TWINS_LOOKED_AT).some((other) => {
  if (other === element || other.tagName !== element.tagName || other.getAttribute('class') !== element.getAttribute('class')) return false;
  if (Object.values(element.dataset).join() !== Object.values(other.dataset ?? {}).join()) return false;
  if (element.namespaceURI?.endsWith('svg')) return false; // shapes are told apart by where they are
  return getComputedStyle(other).backgroundColor === style.backgroundColor;
});

// What is drawn in SVG: the names of shapes, however they are written, their colours, sizes and places.
const CORNERS = { 3: 'triangle', 5: 'pentagon', 6: 'hexagon', 7: 'heptagon', 8: 'octagon' };
const SHAPES = 'rect,circle,ellipse,polygon,polyline,line';
const PATH_LIMIT = 600; // characters of a path; longer ones are no figure
const PATH_PARTS = /[a-z]|[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi;

// `triangle green 20×18 at 60,21`: the middle, in pixels from the corner of its picture.
const shapeOf = (element, style) => {
  const box = element.getBoundingClientRect();
  const corner = element.ownerSVGElement?.getBoundingClientRect() ?? { left: 0, top: 0 };
  const colour = paintOf(element, style);
  const middle = `at ${Math.round(box.left + box.width / 2 - corner.left)},${Math.round(box.top + box.height / 2 - corner.top)}`;
  return [shapeName(element), colour ? colourName(colour) : '', sizeOf(box), middle].filter(Boolean).join(' ');
};

const firstShape = (group) => group.querySelector(SHAPES + ',path');
const paintOf = (element, style) => {
  const shape = element.tagName === 'g' ? firstShape(element) : null;
  const look = shape ? getComputedStyle(shape) : style;
  return [look.fill, look.stroke].map(parseColour).find((colour) => colour && colour[3] > 0.1);
};

const shapeName = (element) => {
  const tag = element.tagName;
  if (tag === 'rect') return isEvenSided(element.width.baseVal.value, element.height.baseVal.value) ? 'square' : 'rectangle';
  if (tag === 'path') return pathName(element);
  if (tag === 'text') return `text ${squash(element.textContent)}`;
  if (tag === 'polygon' || tag === 'polyline') return nameByCorners([...element.points], element.getBBox(), `${tag} of ${element.points.length} points`);
  if (tag !== 'g') return tag;
  const shape = firstShape(element);
  return shape ? shapeName(shape) : 'group';
};
const isEvenSided = (width, height) => Math.abs(width - height) < 1;

const nameByCorners = (points, box, otherwise) => {
  if (isStar(points)) return 'star';
  if (points.length !== 4) return CORNERS[points.length] ?? otherwise;
  const upright = points.every((point, at) => {
    const next = points[(at + 1) % 4];
    return Math.abs(point.x - next.x) < 1 || Math.abs(point.y - next.y) < 1;
  });
  return !upright ? 'quadrilateral' : isEvenSided(box.width, box.height) ? 'square' : 'rectangle';
};

// A star's corners lie far from its middle and close to it by turns.
const isStar = (points) => {
  if (points.length < 8 || points.length % 2) return false;
  const sum = points.reduce((total, point) => ({ x: total.x + point.x, y: total.y + point.y }), { x: 0, y: 0 });
  const reach = points.map((point) => Math.hypot(point.x - sum.x / points.length, point.y - sum.y / points.length));
  const [even, odd] = [0, 1].map((first) => reach.filter((_, at) => at % 2 === first));
  return Math.max(...even) < 0.8 * Math.min(...odd) || Math.max(...odd) < 0.8 * Math.min(...even);
};

const pathName = (path) => {
  const outline = outlineOf(path);
  if (!outline) return 'path';
  if (!outline.arcs) return nameByCorners(outline.points, path.getBBox(), 'path');
  const { width, height } = path.getBBox();
  return outline.points.length > 2 ? 'slice' : isEvenSided(width, height) ? 'circle' : 'ellipse';
};

// The corners of a path of straight lines, and how many arcs it has; null where it has other curves.
const outlineOf = (path) => {
  const written = path.getAttribute('d') ?? '';
  if (!written || written.length > PATH_LIMIT || /[cqst]/i.test(written)) return null;
  const parts = written.match(PATH_PARTS) ?? [];
  const points = [];
  let at = { x: 0, y: 0 }, start = at, command = '', arcs = 0;
  for (let i = 0; i < parts.length;) {
    if (/[a-z]/i.test(parts[i])) command = parts[i++];
    const kind = command.toLowerCase(), from = command === kind ? at : { x: 0, y: 0 };
    if (kind === 'z') { at = start; continue; }
    if (kind === 'a') { i += 5; arcs += 1; }
    const numbers = { h: 1, v: 1 }[kind] ?? 2;
    const [a, b] = parts.slice(i, i += numbers).map(Number);
    if (!Number.isFinite(a)) return null;
    at = { x: kind === 'v' ? at.x : from.x + a, y: kind === 'h' ? at.y : from.y + (kind === 'v' ? a : b) };
    if (kind === 'm') { start = at; command = command === 'm' ? 'l' : 'L'; }
    if (!points.some((point) => Math.abs(point.x - at.x) < 1 && Math.abs(point.y - at.y) < 1)) points.push(at);
  }
  return { points, arcs };
};

// A drawing's shapes, where it has few: a chart's bars, the figures of a task. Icons are smaller.
const DRAWING_FROM = 40, SHAPES_SHOWN = 24, SHAPES_KNOWN = 60;
const drawingOf = (svg, isActed) => {
  const box = svg.getBoundingClientRect();
  if (box.width < DRAWING_FROM || box.height < DRAWING_FROM) return '';
  const figures = [...svg.querySelectorAll([SHAPES, ...figuresBeside(svg)].join())];
  const shapes = figures.filter((shape) => !isActed(shape) && !shape.closest('defs,clipPath,mask,symbol,pattern'));
  if (!shapes.length || shapes.length > SHAPES_KNOWN) return '';
  const styled = shapes.map((shape) => [shape, getComputedStyle(shape)]);
  const told = styled.filter(([shape, style]) => style.visibility === 'visible' && paintOf(shape, style)).map(([shape, style]) => shapeOf(shape, style));
  const more = told.length > SHAPES_SHOWN ? `; ${told.length - SHAPES_SHOWN} more` : '';
  return told.slice(0, SHAPES_SHOWN).join('; ') + more;
};

// Paths count where all of them are figures with a name, as in no logo; letters where they look unlike, and a lone text.
const LETTERS_LONG = 2, LONE_LONG = 20;
const figuresBeside = (svg) => {
  const [paths, letters] = ['path', 'text'].map((kind) => [...svg.querySelectorAll(kind)].slice(0, SHAPES_KNOWN + 1));
  const look = (letter) => { const style = getComputedStyle(letter); return style.fill + style.fontSize; };
  const longest = Math.max(0, ...letters.map((letter) => squash(letter.textContent).length));
  const unlike = letters.length === 1 ? longest <= LONE_LONG : longest <= LETTERS_LONG && new Set(letters.map(look)).size > 1;
  return [...(paths.length && paths.every((path) => pathName(path) !== 'path') ? ['path'] : []), ...(unlike ? ['text'] : [])];
};

// Of things with names, what sets some of those beside each other apart: the ground of the chosen ones of a list,
// the ink of a word, the sizes of equal buttons. Two grounds by turns are a table's stripes.
const ALIKE_FROM = 3, STRIPES_TO = 0.7;
const LARGER = 1.15; // from which on one sees that one is larger

const addState = (piece, state) => { piece.s = [...(piece.s ?? []), state]; };

const tellApart = (shown) => {
  const families = new Map(); // parent -> { tag: members }
  for (const one of shown) {
    if (!one.piece || one.piece.a || EDITABLE.has(one.piece.k)) continue;
    const { parentElement, tagName } = one.element;
    const of = families.get(parentElement) ?? families.set(parentElement, {}).get(parentElement);
    (of[tagName] ??= []).push(one);
  }
  for (const family of [...families.values()].flatMap(Object.values)) {
    if (family.length < ALIKE_FROM) continue;
    tellColours(family, 'ground', 'colour');
    tellColours(family, 'ink', 'written in');
    if (!family[0].name || countBy(family, (one) => one.name).length > 1) continue;
    const boxes = family.map(({ element }) => element.getBoundingClientRect());
    const areas = boxes.map((box) => box.width * box.height);
    if (Math.max(...areas) >= LARGER * Math.min(...areas)) family.forEach((one, at) => addState(one.piece, sizeOf(boxes[at])));
  }
};

const tellColours = (family, of, told) => {
  const counts = countBy(family, (one) => one[of]);
  const [common, most] = counts[0];
  const stripes = counts.length === 2 && most < STRIPES_TO * family.length;
  if (counts.length === 1 || stripes) return;
  for (const one of family) {
    const colour = parseColour(one[of]);
    if (!(one[of] === common && most > 1) && colour && colour[3] >= 0.5) addState(one.piece, `${told} ${colourName(colour)}`);
  }
};

// Words that stand at the same place of things alike (the names of a list, a column of a table), written
// in colours that differ: `Lerwick (red)`. Code is coloured as one reads it.
const UP_TO_ALIKE = 3; // elements between words and the repeated thing that they stand in
const COLOURED_TOLD = 60;
const alikeWith = (element) => {
  let path = '', found = null;
  for (let at = element, hops = 0; at?.parentElement && hops < UP_TO_ALIKE; at = at.parentElement, hops += 1) {
    const { previousElementSibling: before, nextElementSibling: after, tagName, parentElement: parent } = at;
    if (before?.tagName === tagName || after?.tagName === tagName) found = { parent, path: tagName + path };
    path = `>${tagName}${[...parent.children].indexOf(at)}${path}`;
  }
  return found;
};

class WordInks {
  constructor() { this.families = new Map(); } // parent -> Map(path -> members)

  note(element, style, place) {
    const alike = element.closest('a,button,pre,code') ? null : alikeWith(element);
    if (!alike) return;
    const of = this.families.get(alike.parent) ?? this.families.set(alike.parent, new Map()).get(alike.parent);
    const members = of.get(alike.path) ?? of.set(alike.path, []).get(alike.path);
    members.push({ ink: element.ownerSVGElement ? style.fill : style.color, place });
  }

  tell() {
    const told = [...this.families.values()].flatMap((of) => [...of.values()]).flatMap((family) => {
      const [[common, most], ...others] = countBy(family, (one) => one.ink);
      return others.length ? family.filter(({ ink }) => (ink !== common || most <= family.length / 2) && isColoured(parseColour(ink))) : [];
    });
    for (const { ink, place } of told.slice(0, COLOURED_TOLD).reverse()) { // from the end, so that places stay right
      const { pieces, at, end } = place;
      pieces[at] = `${pieces[at].slice(0, end)} (${colourName(parseColour(ink)).replace(/ #.*/, '')})${pieces[at].slice(end)}`;
    }
  }
}
