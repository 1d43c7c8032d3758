// Draws refs over the visible controls, for a screenshot, and removes them again.
const MAX_MARKS = 200;
const SIZES = [{ font: 10, height: 12, char: 6.1 }, { font: 8, height: 9, char: 4.9 }]; // pixels, in bold monospace; the small size is used if the large one hides words
const LABEL_PAD = 2;
const LABEL_COST = 6, WORDS_COST = 4; // cost of covering a label or words, relative to another control's background
const MAX_COVERED_TEXT_PX2 = 6; // a label may cover this much of a text box, as the glyphs do not fill it
const MAX_WORD_BOXES = 3000;
let marks = null;
const unmark = () => { marks?.remove(); marks = null; };

// Returns how many labels hide words, a field or a picture, as there is not always enough room.
const drawMarks = () => {
  unmark();
  marks = document.createElement('div');
  marks.style.cssText = 'all:initial;position:fixed;inset:0;pointer-events:none;z-index:2147483647';
  const targets = marked(), words = drawnWords(), taken = [];
  let hiding = 0;
  for (const { box, ref } of targets) {
    const spot = spotFor(box, ref, { targets, words, taken });
    taken.push(spot);
    if (spot.hides > MAX_COVERED_TEXT_PX2) hiding += 1;
    marks.append(outline(box, ref), label(spot, ref));
  }
  (document.body ?? document.documentElement).append(marks);
  return hiding;
};

const marked = () => {
  const targets = [];
  for (const [ref, { element }] of registry) {
    const target = element.deref();
    if (!target?.isConnected || targets.length >= MAX_MARKS) continue;
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

// The boxes of words and pictures that labels should not hide.
const drawnWords = () => {
  const range = document.createRange();
  const boxes = [...document.querySelectorAll('input,select,textarea,img,svg,canvas,video')].map((one) => one.getBoundingClientRect());
  for (const node of textNodes(document.body ?? document.documentElement)) {
    if (boxes.length > MAX_WORD_BOXES) break;
    if (!node.data.trim()) continue;
    range.selectNode(node);
    boxes.push(...range.getClientRects());
  }
  return boxes.filter((box) => box.width > 2 && box.height > 2 && box.bottom > 0 && box.top < innerHeight);
};

const overlap = (a, b) => {
  const { left, top, right, bottom } = cut(a, b);
  return Math.max(0, right - left) * Math.max(0, bottom - top);
};

const holds = (outer, inner) => outer.left <= inner.left && outer.top <= inner.top && outer.right >= inner.right && outer.bottom >= inner.bottom;
const nearby = (box, others, reach) => others.filter((other) => overlap(other, { left: box.left - reach, right: box.right + reach, top: box.top - reach, bottom: box.bottom + reach }));
const sumOver = (spot, boxes) => boxes.reduce((sum, box) => sum + overlap(spot, box), 0);

// The label position, next to or on the element, that hides the least.
const spotFor = (box, ref, { targets, words, taken }) => {
  const reach = ref.length * SIZES[0].char + 2 * LABEL_PAD;
  const written = nearby(box, words, reach), labels = nearby(box, taken, reach);
  const others = nearby(box, targets.map((one) => one.box), reach).filter((other) => !holds(other, box));
  let best = null;
  for (const size of SIZES) {
    if (best && best.hides <= MAX_COVERED_TEXT_PX2) break;
    const width = ref.length * size.char + 2 * LABEL_PAD, { height } = size;
    for (const [left, top] of placesBeside(box, width, height)) {
      const spot = { left, top, right: left + width, bottom: top + height, size };
      if (left < 0 || top < 0 || spot.right > innerWidth || spot.bottom > innerHeight) continue;
      spot.hides = sumOver(spot, written);
      spot.cost = WORDS_COST * spot.hides + sumOver(spot, others) + LABEL_COST * sumOver(spot, labels);
      if (!best || spot.cost < best.cost) best = spot;
    }
  }
  return best ?? { left: Math.max(0, box.left), top: Math.max(0, box.top), right: 0, bottom: 0, size: SIZES[0], hides: 0 };
};

const placesBeside = (box, width, height) => {
  const columns = [box.left - 1, box.left + (box.width - width) / 2, box.right - width];
  const rows = [box.top, box.top + (box.height - height) / 2, box.bottom - height];
  return [
    ...[box.top - height, box.bottom].flatMap((top) => columns.map((left) => [left, top])),
    ...[box.right, box.left - width].flatMap((left) => rows.map((top) => [left, top])),
    ...[rows[0], rows[2]].flatMap((top) => columns.map((left) => [left, top])),
  ];
};

const label = ({ left, top, size }, ref) => {
  const text = document.createElement('div');
  text.textContent = ref;
  text.style.cssText = `position:fixed;left:${left}px;top:${top}px;font:bold ${size.font}px/${size.height}px monospace;color:white;background:${colourOf(ref)};padding:0 ${LABEL_PAD}px;white-space:nowrap`;
  return text;
};
