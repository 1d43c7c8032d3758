// Draws the refs over what is in view, for a picture, and takes them away again.
const MARKS_LIMIT = 200;
const LABEL_HEIGHT = 12, LABEL_CHAR = 6.1, LABEL_PAD = 2; // pixels of bold 10px monospace
const OVER_LABEL = 6, OVER_OTHER = 3; // how much worse than to cover the element itself
let marks = null;
const unmark = () => { marks?.remove(); marks = null; };

const drawMarks = () => {
  unmark();
  marks = document.createElement('div');
  marks.style.cssText = 'all:initial;position:fixed;inset:0;pointer-events:none;z-index:2147483647';
  const targets = marked();
  const taken = [];
  for (const { box, ref } of targets) marks.append(outline(box, ref), label(box, ref, targets, taken));
  (document.body ?? document.documentElement).append(marks);
};

const marked = () => {
  const targets = [];
  for (const [ref, { element }] of registry) {
    const target = element.deref();
    if (!target?.isConnected || targets.length >= MARKS_LIMIT) continue;
    const box = target.getBoundingClientRect();
    if (box.width < 3 || box.height < 3 || box.bottom < 0 || box.top > innerHeight || box.right < 0 || box.left > innerWidth) continue;
    const inView = pointsOf(target).some(({ x, y }) => {
      const hit = deepHit(x, y);
      return hit && related(hit, target);
    });
    if (inView) targets.push({ ref, box });
  }
  return targets;
};

const colourOf = (ref) => `hsl(${(Number(/\d+$/.exec(ref)[0]) * 67) % 360} 85% 35%)`;

const outline = (box, ref) => {
  const frame = document.createElement('div');
  frame.style.cssText = `position:fixed;left:${box.left - 1}px;top:${box.top - 1}px;width:${box.width + 2}px;height:${box.height + 2}px;box-sizing:border-box;border:1px solid ${colourOf(ref)}`;
  return frame;
};

const overlap = (a, b) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) *
  Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));

const holds = (outer, inner) => outer.left <= inner.left && outer.top <= inner.top && outer.right >= inner.right && outer.bottom >= inner.bottom;

// Beside its element rather than on it, and where it hides least of others.
const label = (box, ref, targets, taken) => {
  const width = ref.length * LABEL_CHAR + 2 * LABEL_PAD, height = LABEL_HEIGHT;
  const corners = [
    [box.left - 1, box.top - height], [box.right - width, box.top - height], [box.left - 1, box.bottom],
    [box.right, box.top], [box.left - width, box.top], [box.right - width, box.top], [box.left, box.top],
  ];
  let best = null;
  for (const [left, top] of corners) {
    const spot = { left, top, right: left + width, bottom: top + height };
    if (left < 0 || top < 0 || spot.right > innerWidth || spot.bottom > innerHeight) continue;
    let cost = overlap(spot, box);
    for (const other of targets) if (!holds(other.box, box)) cost += OVER_OTHER * overlap(spot, other.box);
    for (const other of taken) cost += OVER_LABEL * overlap(spot, other);
    if (!best || cost < best.cost) best = { cost, spot };
  }
  const spot = best?.spot ?? { left: Math.max(0, box.left), top: Math.max(0, box.top), right: 0, bottom: 0 };
  taken.push(spot);
  const text = document.createElement('div');
  text.textContent = ref;
  text.style.cssText = `position:fixed;left:${spot.left}px;top:${spot.top}px;font:bold 10px/${height}px monospace;color:white;background:${colourOf(ref)};padding:0 ${LABEL_PAD}px;white-space:nowrap`;
  return text;
};
