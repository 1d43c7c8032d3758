// Scrolls an element, its scrollable ancestor, or the page; and scrolls virtual lists, which render only what is in view,
// until they show the text.
const FRAME_MS = 250; // to wait for the next frame, which is late on a busy machine and never arrives in a background tab

const frameDrawn = () => new Promise((done) => { requestAnimationFrame(done); });
const later = (ms) => new Promise((done) => { setTimeout(done, ms); });
const nextFrame = () => Promise.race([frameDrawn(), later(FRAME_MS)]);

const canScroll = (element) => element.scrollHeight > element.clientHeight + 1
  && (element.tagName === 'TEXTAREA' || /auto|scroll/.test(getComputedStyle(element).overflowY));
// An element that only scrolls horizontally is scrolled that way.
const scrollsSideways = (element) => element.scrollWidth > element.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(element).overflowX);
const listensForWheel = (element) => (wheelListeners.has(element) || !!element.onwheel) && !isFrameworkRoot(element, [])
  && [element, ...element.children].some((one) => getComputedStyle(one).overflowY !== 'visible');

const scrollerOf = (element) => {
  const root = document.scrollingElement ?? document.documentElement;
  if (element) return outward(element, (at) => at === root || canScroll(at) || scrollsSideways(at)) ?? root;
  if (root.scrollHeight > innerHeight + 1) return root;
  const middle = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
  const found = outward(middle, (at) => at === root || canScroll(at)) ?? root;
  return found === root ? largestScroller() ?? root : found;
};

// The largest scrollable element, for a page that does not scroll itself.
const MAX_ELEMENTS_SEARCHED = 5000;
const largestScroller = () => {
  let largest = null, area = 0, asked = 0;
  const rest = [/** @type {Element} */ (document.body)];
  for (let at = rest.pop(); at && asked < MAX_ELEMENTS_SEARCHED; at = rest.pop(), asked += 1) {
    const size = at.clientWidth * at.clientHeight;
    if (size > area && canScroll(at)) [largest, area] = [at, size];
    rest.push(...at.children, ...(shadowOf(at)?.children ?? []));
  }
  return largest;
};

// Returns whether anything moved or, if there is no scroll bar but the wheel may work, { screen }: the visible height in
// pixels.
const scroll = async ({ element, pages, to }) => {
  const at = scrollerOf(element);
  const isPage = at === document.scrollingElement;
  const long = isPage ? at.scrollHeight > innerHeight + 1 : canScroll(at);
  const found = outward(element, (one) => one === at || listensForWheel(one)), moved = found === at ? null : found;
  if (moved || (isPage && !long && at.scrollWidth <= innerWidth + 1)) return { screen: Math.min(moved?.clientHeight ?? innerHeight, innerHeight) };
  const [side, screen, end] = isPage || long ? ['top', isPage ? innerHeight : at.clientHeight, at.scrollHeight] : ['left', at.clientWidth, at.scrollWidth];
  const before = at.scrollTop + at.scrollLeft;
  if (to === 'top') at.scrollTo({ [side]: 0, behavior: 'instant' });
  else if (to === 'bottom') at.scrollTo({ [side]: end, behavior: 'instant' });
  else at.scrollBy({ [side]: pages * screen, behavior: 'instant' });
  await Promise.race([frameDrawn().then(frameDrawn), later(FRAME_MS)]);
  return at.scrollTop + at.scrollLeft !== before;
};

// Virtual lists are searched by scrolling them down or sideways, or by wheel events.
const DRAWN_LATE_MS = 100; // a list that has rendered nothing new by then has nothing new
const SCREEN_SHARE_PER_STEP = 0.9; // of the visible height per step, so that no row is skipped
const MAX_UNCHANGED_STEPS = 2; // after this many steps without a change, the list is not virtual
const LOAD_MS = 1500; // for an endless feed to load more at its end
const MAX_ROW_CHARS = 400, MAX_LISTS = 8, MIN_LIST_PX = 60;
const WHEEL_STEP_PX = 120, WHEEL_TO_END_PX = 1e6; // wheel pixels: one step, and enough to reach the end of any list
const GRIDS = 'table,[role=table],[role=grid],[role=treegrid]';

const renderedText = (list) => [...allTextNodes(list)].map((node) => node.data).join(' ');
const wordedElements = (list) => [...allTextNodes(list)].filter((node) => node.data.trim() && node.parentElement).map((node) => node.parentElement);
const topOf = (element) => element.getBoundingClientRect().top;

// The elements that a scroll bar moves: its content or, if it has none, a sibling; for horizontal scrolling, also column
// headers.
const movedBy = (list, across) => outward((across && list.closest(GRIDS)) || list, (at) => at === document.body || renderedText(at).trim()) ?? document.body;

// A way to scroll through a list: `at` and `end` are pixels from its start.
const byBar = (list, across = false) => {
  const [side, place, seen, all] = across ? ['left', 'scrollLeft', 'clientWidth', 'scrollWidth'] : ['top', 'scrollTop', 'clientHeight', 'scrollHeight'];
  const sign = across && getComputedStyle(list).direction === 'rtl' ? -1 : 1;
  const far = (box) => (across ? sign * box[sign > 0 ? 'right' : 'left'] : box.bottom);
  const near = (box) => (across ? sign * box[sign > 0 ? 'left' : 'right'] : box.top);
  // Pixels beyond its view that a list has already rendered without gaps: those rows need not be scrolled into view.
  const drawnBeyond = (edgeOfWindow) => {
    const edge = Math.min(far(list.getBoundingClientRect()), edgeOfWindow);
    const boxes = wordedElements(list).map((one) => one.getBoundingClientRect()).filter((box) => far(box) > edge).sort((a, b) => near(a) - near(b));
    let reach = edge;
    for (const box of boxes) if (near(box) <= reach + list[seen] / 2) reach = Math.max(reach, far(box));
    return reach - edge;
  };
  return {
    shown: movedBy(list, across), began: sign * list[place],
    at: () => sign * list[place],
    end: () => list[all] - list[seen],
    go: (to) => list.scrollTo({ [side]: sign * to, behavior: 'instant' }),
    step: () => SCREEN_SHARE_PER_STEP * list[seen] + (across ? 0 : drawnBeyond(innerHeight)),
    drawn: () => !list[place] && 1.25 * list[seen] + drawnBeyond(sign > 0 ? innerWidth : 0) >= list[all],
  };
};

// A list without a scroll bar is scrolled by wheel events, from its start until nothing new appears. null if the wheel does
// something else: in a map that zooms, elements move in different directions.
const byWheel = async (list) => {
  for (const notch of [WHEEL_STEP_PX, -WHEEL_STEP_PX]) {
    const { top, bottom } = list.getBoundingClientRect();
    const inView = wordedElements(list).filter((at) => topOf(at) >= top && topOf(at) < bottom);
    const ways = await wheeled(list, notch, inView);
    await wheeled(list, -notch, inView);
    if (ways.length > 1 && ways[0] * notch > 0 && ways.every((way) => Math.abs(way - ways[0]) < 1)) return wheelWay(list, ways[0] / notch);
    if (ways.some(Math.abs)) return null; // otherwise, the list may be at its end
  }
  return null;
};

const wheelWay = (list, rate) => {
  let place = -SCREEN_SHARE_PER_STEP * list.clientHeight; // so that the first step reaches the start
  const go = (to) => {
    wheel(list, to > 0 ? (to - place) / rate : -WHEEL_TO_END_PX);
    place = to;
  };
  return { shown: list, began: 0, at: () => place, end: () => Infinity, go, step: () => SCREEN_SHARE_PER_STEP * list.clientHeight };
};

const wheel = (list, deltaY) => {
  const { x, y } = middleOf(list.getBoundingClientRect());
  const hit = deepHit(x, y);
  const turned = { deltaY, wheelDeltaY: -deltaY, clientX: x, clientY: y, bubbles: true, composed: true, cancelable: true };
  (hit && isWithin(hit, list) ? hit : list).dispatchEvent(new WheelEvent('wheel', turned));
};

// How far elements with text that stayed in the document moved up after a wheel event.
const wheeled = async (list, deltaY, elements) => {
  const before = elements.map((at) => [at, at.textContent, topOf(at)]);
  const until = performance.now() + FRAME_MS;
  wheel(list, deltaY);
  for (;;) {
    await nextFrame();
    const stayed = before.filter(([at, said]) => at.isConnected && at.textContent === said);
    const ways = stayed.map(([at, , top]) => top - topOf(at));
    if (ways.some(Math.abs) || performance.now() >= until) return ways;
  }
};

// All elements that may be virtual lists: scrolled down, across, or by the wheel.
const virtualLists = () => {
  const root = document.scrollingElement ?? document.documentElement;
  const found = { down: [], across: [], wheel: [] };
  const add = (kind, at) => { if (found[kind].length < MAX_LISTS && at.checkVisibility()) found[kind].push(at); };
  const long = (at) => at.scrollHeight > 1.2 * at.clientHeight, wide = (at) => at.scrollWidth > 1.5 * at.clientWidth;
  for (const at of everyElement()) {
    if (at === root || at.tagName === 'TEXTAREA' || Math.max(at.clientHeight, at.clientWidth) <= MIN_LIST_PX) continue;
    if (at.clientHeight > MIN_LIST_PX && long(at) && canScroll(at)) add('down', at);
    else if (at.clientHeight > MIN_LIST_PX && listensForWheel(at)) add('wheel', at);
    if (at.clientWidth > MIN_LIST_PX && wide(at) && scrollsSideways(at)) add('across', at);
  }
  found.down.sort((a, b) => a.scrollHeight - b.scrollHeight); // so that a long list does not use up the time for the others
  if (root.scrollHeight > root.clientHeight + 1) found.down.push(root); // a feed may start with little more than one screen
  return found;
};

// Waits until the rendered content differs from `before` and is complete; returns it.
const untilRendered = async (list, before, ms) => {
  const until = performance.now() + ms;
  let now = before;
  for (;;) {
    await nextFrame();
    await later(0); // frameworks render in a later task
    const last = now;
    now = renderedText(list);
    if ((now !== before && now === last) || performance.now() >= until) return now;
  }
};

// How well a row of the list (an element around a word, no longer than a row) matches: 'exact' if it contains the text,
// 'words' if it contains all its words, or else ''.
const rowContains = (list, { text, words }) => {
  let found = '';
  for (const node of allTextNodes(list)) {
    if (!node.data.toLowerCase().includes(words[0])) continue;
    for (let at = node.parentElement; at && at !== list; at = composedParent(at)) {
      const said = squash(renderedText(at)).toLowerCase();
      if (said.length > MAX_ROW_CHARS) break;
      if (standsIn(said, text) || standsIn(squash(at.textContent).toLowerCase(), text)) return 'exact';
      if (words.every((word) => standsIn(said, word))) found = 'words';
    }
  }
  return found;
};

// Whether a list renders different content at its end: a list that draws many screens of rows in advance does not change
// for a while. The list is left where it was.
const changesAtEnd = async ({ shown, at, end, go }) => {
  const place = at(), before = renderedText(shown);
  go(end());
  const changed = (await untilRendered(shown, before, DRAWN_LATE_MS)) !== before;
  go(place);
  if (changed) await untilRendered(shown, renderedText(shown), DRAWN_LATE_MS);
  return changed;
};

// Searches a list from its position to its end, then from its start. The list is left where the text is, or else where its
// words are, or else where it was. A list that loads more at its end is followed until time is up, which yields { late };
// its end yields { grew }. `inside` searches further at each position with new content.
const scrollList = async function* (way, wanted, limit, inside = null) {
  const { shown, began } = way;
  let drawn = renderedText(shown), same = 0, round = false, grew = false, byWords = -1;
  while (same < MAX_UNCHANGED_STEPS || (way.end() < Infinity && await changesAtEnd(way))) {
    if (same >= MAX_UNCHANGED_STEPS) same = -Infinity;
    if (performance.now() > limit.until) {
      if (byWords >= 0) break;
      yield { late: true, grew };
    }
    let atEnd = way.at() >= way.end() - 1;
    if (atEnd && !round && !way.known) {
      const more = await untilRendered(shown, drawn, LOAD_MS);
      if (more !== drawn) [grew, same] = [true, -Infinity];
      atEnd = way.at() >= way.end() - 1;
    }
    const end = way.end();
    if (atEnd && (round || began <= 1)) {
      if (renderedText(shown) === drawn) break;
    } else if (round && way.at() >= began) break;
    else {
      way.go(atEnd ? 0 : way.at() + way.step());
      round ||= atEnd;
    }
    const now = await untilRendered(shown, drawn, DRAWN_LATE_MS);
    // Content that loads immediately is now there, too: the former end is no longer the end.
    if (!round && way.at() >= end - 1 && way.end() > end + MIN_LIST_PX && way.end() < Infinity) grew = true;
    same = now === drawn ? same + 1 : way.end() < Infinity ? -Infinity : 0;
    const says = rowContains(shown, wanted);
    if (says === 'exact') yield { found: true };
    else if (says && byWords < 0) byWords = way.at();
    const further = inside && now !== drawn;
    if (further) yield* inside();
    drawn = further ? await untilRendered(shown, renderedText(shown), DRAWN_LATE_MS) : now;
  }
  way.go(byWords < 0 ? began : byWords);
  if (byWords < 0) {
    if (grew) yield { grew };
    return;
  }
  await untilRendered(shown, drawn, DRAWN_LATE_MS);
  yield { found: true, byWords: true };
  way.go(began);
};

let seeking = null;
const seekLimit = { until: 0 };
// Searches down, across, and by the wheel; finally, if columns are also virtual, down at each of their positions. For an
// element such as an option, the list around it is searched, which may scroll by script, without a scroll bar.
const scrollLists = async function* (wanted, element) {
  const around = element && (outward(composedParent(element), (at) => at.scrollHeight > 1.2 * at.clientHeight && getComputedStyle(at).overflowY !== 'visible') ?? scrollerOf(element));
  const { down, across, wheel: moving } = around ? { down: [around], across: [], wheel: [] } : virtualLists();
  for (const list of down) yield* scrollList(byBar(list), wanted, seekLimit);
  const columns = across.filter((list) => !byBar(list, true).drawn());
  for (const list of columns) yield* scrollList(byBar(list, true), wanted, seekLimit);
  for (const list of moving) {
    const way = await byWheel(list);
    if (way) yield* scrollList(way, wanted, seekLimit);
  }
  for (const list of columns) {
    const rows = down.find((other) => other !== document.scrollingElement && (isWithin(list, other) || isWithin(other, list)));
    if (rows) yield* scrollList(byBar(list, true), wanted, seekLimit, () => scrollList({ ...byBar(rows), known: true }, wanted, seekLimit));
  }
};

// Each call returns { found } for the next row of a list (any list, or the one around an element) that contains the text, {
// late } when time is up, { grew } at the end of a list that loaded more, or {} at the end.
const seek = async ({ text, ms, more, element }) => {
  const asked = squash(text).toLowerCase();
  seekLimit.until = performance.now() + ms;
  if (!more || !seeking) seeking = scrollLists({ text: asked, words: asked.split(' ').sort((a, b) => b.length - a.length) }, element);
  return (await seeking.next()).value ?? {};
};
