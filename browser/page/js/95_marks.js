// Draws the refs over what is in view, for a picture, and takes them away again.
const MARKS_LIMIT = 200;
let marks = null;
const unmark = () => { marks?.remove(); marks = null; };
const drawMarks = () => {
  unmark();
  marks = document.createElement('div');
  marks.style.cssText = 'all:initial;position:fixed;inset:0;pointer-events:none;z-index:2147483647';
  let drawn = 0;
  for (const [ref, { element }] of registry) {
    const target = element.deref();
    if (!target?.isConnected || drawn >= MARKS_LIMIT) continue;
    const box = target.getBoundingClientRect();
    if (box.width < 3 || box.height < 3 || box.bottom < 0 || box.top > innerHeight || box.right < 0 || box.left > innerWidth) continue;
    const hit = deepHit(box.left + box.width / 2, box.top + box.height / 2);
    if (!hit || !(lands(hit, target) || isWithin(target, hit))) continue;
    marks.append(outline(box, ref));
    drawn += 1;
  }
  (document.body ?? document.documentElement).append(marks);
};

const outline = (box, ref) => {
  const frame = document.createElement('div');
  const colour = `hsl(${(Number(/\d+$/.exec(ref)[0]) * 67) % 360} 85% 35%)`;
  frame.style.cssText = `position:fixed;left:${box.left}px;top:${box.top}px;width:${box.width}px;height:${box.height}px;box-sizing:border-box;border:2px solid ${colour}`;
  const label = document.createElement('div');
  label.textContent = ref;
  label.style.cssText = `position:absolute;left:0;top:0;font:bold 11px/13px monospace;color:white;background:${colour};padding:0 2px`;
  frame.append(label);
  return frame;
};
