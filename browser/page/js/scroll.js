// Scrolls an element, what scrolls around it, or the page; where the page stands still, its middle. And
// scrolls lists that draw only what is in view, until they draw a text.
const FRAME_MS = 250; // the next frame tells the page; a loaded machine draws late, a tab in the background never

const rolls = (element) => element.scrollHeight > element.clientHeight + 1
  && (element.tagName === 'TEXTAREA' || /auto|scroll/.test(getComputedStyle(element).overflowY));
// A strip that only goes sideways is scrolled sideways.
const rollsSideways = (element) => element.scrollWidth > element.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(element).overflowX);

const scrollerOf = (element) => {
  const root = document.scrollingElement ?? document.documentElement;
  const pageRolls = root.scrollHeight > innerHeight + 1;
  let at = element ?? (pageRolls ? root : document.elementFromPoint(innerWidth / 2, innerHeight / 2));
  while (at && at !== root && !rolls(at) && !(element && rollsSideways(at))) at = composedParent(at);
  if (!element && !pageRolls && (!at || at === root)) return largestRoller() ?? root;
  return at ?? root;
};

// Of a page that stands still as a whole, the largest list that rolls in it.
const ELEMENTS_ASKED = 5000;
const largestRoller = () => {
  let largest = null, area = 0, asked = 0;
  const rest = [/** @type {Element} */ (document.body)];
  for (let at = rest.pop(); at && asked < ELEMENTS_ASKED; at = rest.pop(), asked += 1) {
    const size = at.clientWidth * at.clientHeight;
    if (size > area && rolls(at)) [largest, area] = [at, size];
    rest.push(...at.children, ...(shadowOf(at)?.children ?? []));
  }
  return largest;
};

const scroll = async ({ element, pages, to }) => {
  const at = scrollerOf(element);
  const isPage = at === document.scrollingElement;
  const [side, screen, end] = isPage || rolls(at) ? ['top', isPage ? innerHeight : at.clientHeight, at.scrollHeight] : ['left', at.clientWidth, at.scrollWidth];
  if (to === 'top') at.scrollTo({ [side]: 0, behavior: 'instant' });
  else if (to === 'bottom') at.scrollTo({ [side]: end, behavior: 'instant' });
  else at.scrollBy({ [side]: pages * screen, behavior: 'instant' });
  await Promise.race([frameDrawn().then(frameDrawn), later(FRAME_MS)]);
};

const frameDrawn = () => new Promise((done) => { requestAnimationFrame(done); });
const later = (ms) => new Promise((done) => { setTimeout(done, ms); });

const DRAWN_LATE_MS = 100; // a list that drew nothing new by then has nothing new to draw
const SCREEN = 0.9; // of what is in view, in one step: no row is jumped over
const SAME_STEPS = 2; // so many that change nothing tell that all of it is drawn
const GROWTH_MS = 600; // a feed fetches what follows when its end is reached
const ROW_AT_MOST = 400, LISTS_AT_MOST = 8, LIST_HEIGHT = 60;

const listsThatRoll = () => {
  const root = document.scrollingElement ?? document.documentElement;
  const long = (at) => at.clientHeight > LIST_HEIGHT && at.scrollHeight > 1.5 * at.clientHeight;
  const found = [];
  for (const at of everyElement()) {
    if (found.length >= LISTS_AT_MOST) break;
    if (at !== root && at.tagName !== 'TEXTAREA' && long(at) && rolls(at) && at.checkVisibility()) found.push(at);
  }
  return long(root) ? [...found, root] : found;
};

const textDrawn = (list) => [...textNodes(list)].map((node) => node.data).join(' ');

// Pixels below its view in which a list has drawn already: rows that need not come into view any more.
const drawnBelow = (list) => {
  const bottom = Math.min(list.getBoundingClientRect().bottom, innerHeight);
  let lowest = bottom;
  for (const node of textNodes(list)) {
    if (node.data.trim()) lowest = Math.max(lowest, node.parentElement?.getBoundingClientRect().bottom ?? 0);
  }
  return Math.min(lowest - bottom, 3 * list.clientHeight);
};

// Waits until what is drawn is another than `before`, and drawn to its end; gives it.
const untilDrawn = async (list, before, ms) => {
  const until = performance.now() + ms;
  let now = before;
  for (;;) {
    await Promise.race([frameDrawn(), later(FRAME_MS)]);
    await later(0); // frameworks draw in a task of their own
    const last = now;
    now = textDrawn(list);
    if ((now !== before && now === last) || performance.now() >= until) return now;
  }
};

// How a row of the list (something around a word, no longer than a row) says a text: as it stands, by
// all its words, or '' for not at all.
const rowSays = (list, { text, words }) => {
  let found = '';
  for (const node of textNodes(list)) {
    if (!node.data.toLowerCase().includes(words[0])) continue;
    for (let at = node.parentElement; at && at !== list; at = composedParent(at)) {
      const said = squash(textDrawn(at)).toLowerCase();
      if (said.length > ROW_AT_MOST) break;
      if (said.includes(text)) return 'exact';
      if (words.every((word) => said.includes(word))) found = 'words';
    }
  }
  return found;
};

// One list from where it stands to its end, then from its beginning. It is left where the text stands, else
// where its words do, else where it was.
const scrollList = async function* (list, wanted, limit) {
  const began = list.scrollTop;
  const go = (top) => list.scrollTo({ top, behavior: 'instant' });
  let drawn = textDrawn(list), same = 0, round = 0, byWords = -1;
  while (same < SAME_STEPS) {
    const end = list.scrollHeight - list.clientHeight;
    if (performance.now() > limit.until) {
      if (byWords >= 0) break;
      yield { late: true, share: list.scrollTop / Math.max(1, end) };
    }
    const atEnd = list.scrollTop >= end - 1;
    if (atEnd && !round && (await untilDrawn(list, drawn, GROWTH_MS)) !== drawn) drawn = textDrawn(list);
    else if (atEnd ? round || began <= 1 : round && list.scrollTop >= began) break;
    else go(atEnd ? 0 : list.scrollTop + SCREEN * list.clientHeight + drawnBelow(list));
    round += atEnd ? 1 : 0;
    const now = await untilDrawn(list, drawn, DRAWN_LATE_MS);
    same = now === drawn ? same + 1 : -Infinity;
    drawn = now;
    const says = rowSays(list, wanted);
    if (says === 'exact') yield { found: true };
    else if (says && byWords < 0) byWords = list.scrollTop;
  }
  go(byWords < 0 ? began : byWords);
  if (byWords < 0) return;
  await untilDrawn(list, drawn, DRAWN_LATE_MS);
  yield { found: true, byWords: true };
  go(began);
};

// A list of options may roll by its own doing, without a bar to roll it by.
const heldBy = (element) => {
  for (let at = composedParent(element); at; at = composedParent(at)) {
    if (at.scrollHeight > 1.2 * at.clientHeight && getComputedStyle(at).overflowY !== 'visible') return at;
  }
  return scrollerOf(element);
};

let seeking = null;
const seekLimit = { until: 0 };
const scrollLists = async function* (wanted, element) {
  for (const list of element ? [heldBy(element)] : listsThatRoll()) yield* scrollList(list, wanted, seekLimit);
};

// Gives { found } each time a row of a list (all, or the one around an element) says the text, { late, share } when the time is up; {} at the end.
const seek = async ({ text, ms, more, element }) => {
  const asked = squash(text).toLowerCase();
  seekLimit.until = performance.now() + ms;
  if (!more || !seeking) seeking = scrollLists({ text: asked, words: asked.split(' ').sort((a, b) => b.length - a.length) }, element);
  return (await seeking.next()).value ?? {};
};
