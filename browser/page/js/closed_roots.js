// Elements that may have a closed shadow root from the page's markup, and those found to have one.
const HOST_TAGS = /^(?:ARTICLE|ASIDE|BLOCKQUOTE|DIV|FOOTER|H[1-6]|HEADER|MAIN|NAV|P|SECTION|SPAN|.+-.*)$/;
const SUSPECTS_LIMIT = 60;
const HEIGHT_OF_TEXT = 8; // pixels; an element without content that is as high shows something
const adopted = new WeakMap(); // host -> its root
const checked = new WeakSet();
let suspected = [];

// A custom element, or one that holds nothing and is high all the same.
const mayHost = (element, style) => {
  if (!HOST_TAGS.test(element.tagName) || checked.has(element) || shadowOf(element)) return false;
  if (element.tagName.includes('-')) return true;
  if (element.firstChild || style.display === 'none' || element.computedStyleMap?.().get('height')?.value !== 'auto') return false;
  const inner = element.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
  return (style.display === 'inline' ? element.getBoundingClientRect().height : inner) >= HEIGHT_OF_TEXT;
};
const suspect = (element, style) => {
  if (suspected.length < SUSPECTS_LIMIT && mayHost(element, style)) suspected.push(element);
};
const suspects = () => {
  const asked = suspected;
  suspected = [];
  asked.forEach((element) => checked.add(element));
  return asked;
};
const suspectAll = () => { for (const element of [...document.querySelectorAll('*')].slice(0, 5000)) suspect(element, getComputedStyle(element)); };
const adopt = (host, root) => { adopted.set(host, root); };
