// What is drawn in SVG: the names of shapes, however they are written, their colours, sizes and places.
const CORNERS = { 3: 'triangle', 5: 'pentagon', 6: 'hexagon', 7: 'heptagon', 8: 'octagon' };
const PATH_LIMIT = 600; // characters of a path; longer ones are no figure
const PATH_PARTS = /[a-z]|[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi;

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
    if (!points.some((point) => near(point, at))) points.push(at);
  }
  return { points, arcs };
};
const near = (a, b) => Math.abs(a.x - b.x) < 1 && Math.abs(a.y - b.y) < 1;

const evenSided = ({ width, height }) => Math.abs(width - height) < 1;

// A star's corners lie far from its middle and close to it by turns.
const isStar = (points) => {
  if (points.length < 8 || points.length % 2) return false;
  const sum = points.reduce((total, point) => ({ x: total.x + point.x, y: total.y + point.y }), { x: 0, y: 0 });
  const reach = points.map((point) => Math.hypot(point.x - sum.x / points.length, point.y - sum.y / points.length));
  const [even, odd] = [0, 1].map((first) => reach.filter((_, at) => at % 2 === first));
  return Math.max(...even) < 0.8 * Math.min(...odd) || Math.max(...odd) < 0.8 * Math.min(...even);
};

const byCorners = (points, box, otherwise) => {
  if (isStar(points)) return 'star';
  if (points.length !== 4) return CORNERS[points.length] ?? otherwise;
  const upright = points.every((point, at) => {
    const next = points[(at + 1) % 4];
    return Math.abs(point.x - next.x) < 1 || Math.abs(point.y - next.y) < 1;
  });
  return !upright ? 'quadrilateral' : evenSided(box) ? 'square' : 'rectangle';
};

const pathName = (path) => {
  const outline = outlineOf(path);
  if (!outline) return 'path';
  if (!outline.arcs) return byCorners(outline.points, path.getBBox(), 'path');
  return outline.points.length > 2 ? 'slice' : evenSided(path.getBBox()) ? 'circle' : 'ellipse';
};

const SHAPES = 'rect,circle,ellipse,polygon,polyline,line';
const shapeName = (element) => {
  const tag = element.tagName;
  if (tag === 'rect') return Math.abs(element.width.baseVal.value - element.height.baseVal.value) < 1 ? 'square' : 'rectangle';
  if (tag === 'path') return pathName(element);
  if (tag === 'text') return `text ${squash(element.textContent)}`;
  if (tag !== 'polygon' && tag !== 'polyline') return tag === 'g' ? drawnIn(element) : tag;
  return byCorners([...element.points], element.getBBox(), `${tag} of ${element.points.length} points`);
};
const drawnIn = (group) => {
  const shape = group.querySelector(SHAPES + ',path');
  return shape ? shapeName(shape) : 'group';
};

const paintOf = (element, style) => {
  const shape = element.tagName === 'g' ? element.querySelector(SHAPES + ',path') : null;
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
  const figures = [...svg.querySelectorAll([SHAPES, ...figuresBeside(svg)].join())];
  const shapes = figures.filter((shape) => !actionableShapes(shape) && !shape.closest('defs,clipPath,mask,symbol,pattern'));
  if (!shapes.length || shapes.length > SHAPES_KNOWN) return '';
  const told = shapes.map((shape) => [shape, getComputedStyle(shape)]).filter(([shape, style]) => style.visibility === 'visible' && paintOf(shape, style)).map(([shape, style]) => shapeOf(shape, style));
  const more = told.length > SHAPES_SHOWN ? `; ${told.length - SHAPES_SHOWN} more` : '';
  return told.slice(0, SHAPES_SHOWN).join('; ') + more;
};

// Paths count where all of them are figures with a name, as in no logo; letters where they look unlike, and a lone text.
const LETTERS_LONG = 2, LONE_LONG = 20;
const figuresBeside = (svg) => {
  const paths = [...svg.querySelectorAll('path')].slice(0, SHAPES_KNOWN + 1);
  const letters = [...svg.querySelectorAll('text')].slice(0, SHAPES_KNOWN + 1);
  const look = (letter) => { const style = getComputedStyle(letter); return style.fill + style.fontSize; };
  const longest = Math.max(0, ...letters.map((letter) => squash(letter.textContent).length));
  const unlike = letters.length === 1 ? longest <= LONE_LONG : longest <= LETTERS_LONG && new Set(letters.map(look)).size > 1;
  return [...(paths.length && paths.every((path) => pathName(path) !== 'path') ? ['path'] : []), ...(unlike ? ['text'] : [])];
};
