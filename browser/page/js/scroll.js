// Scrolls an element, what scrolls around it, or the page; where the page stands still, its middle.
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
  const frame = () => new Promise((done) => { requestAnimationFrame(done); });
  await Promise.race([frame().then(frame), new Promise((done) => { setTimeout(done, FRAME_MS); })]);
};
