// What a rule of the page's style shows only under the pointer (a menu's next level, a row's buttons):
// the pointer must go to what holds it, though nothing listens there.
const OWNERS_LIMIT = 300;
const hoverRules = new WeakMap(); // sheet -> { length, found: [[owner, what it shows]] }

const showsSomething = (style) => (style.display && style.display !== 'none') || style.visibility === 'visible';

const rulesIn = (list, found) => {
  for (const rule of list) {
    if (rule.selectorText?.includes(':hover') && showsSomething(rule.style)) {
      for (const selector of rule.selectorText.split(',')) {
        const [, owner, shown] = /^(.*?):hover\b(?!\))(\s*[\s>].+)$/.exec(selector.trim()) ?? [];
        if (shown) found.push([owner || '*', ':scope ' + shown.trim()]);
      }
    }
    if (rule.cssRules?.length) rulesIn(rule.cssRules, found);
  }
  return found;
};

const hoverRulesOf = (sheet) => {
  try {
    const known = hoverRules.get(sheet);
    if (known?.length === sheet.cssRules.length) return known.found;
    const found = rulesIn(sheet.cssRules, []);
    hoverRules.set(sheet, { length: sheet.cssRules.length, found });
    return found;
  } catch {
    return []; // a sheet of another origin keeps its rules to itself
  }
};

const keptBack = (element) => {
  const style = getComputedStyle(element);
  return style.display === 'none' || style.visibility === 'hidden';
};

// Who listens for the pointer to come over it, and has something to show then: kept back inside it, or a
// word or two of its own, as what has a tip.
const HOVERED_WORDS = 40, INNER_LIMIT = 60;
const PARTS = 'a[href],button,input,select,textarea';
const listensForHover = (element) => (hovering.has(element) && !frameworkRoot(element, [])) || !!element.onmouseenter || !!element.onmouseover
  || reactProps(element).some((name) => /^on(Mouse|Pointer)(Enter|Over)$/.test(name));
const hoverable = (element) => {
  if (isRoot(element) || /^T[DHR]$/.test(element.tagName) || !listensForHover(element)) return false; // a grid lights up its cells
  if ([...element.querySelectorAll('*')].slice(0, INNER_LIMIT).some(keptBack)) return true;
  return !element.querySelector(PARTS) && shortText(element, HOVERED_WORDS + 1).length <= HOVERED_WORDS;
};

const hoverOwners = () => {
  const owners = new Set();
  const roots = [...listening].map((ref) => ref.deref()).filter((node) => node?.isConnected).map((node) => node.getRootNode());
  for (const scope of new Set([document, ...roots])) {
    for (const sheet of [...scope.styleSheets, ...scope.adoptedStyleSheets]) {
      for (const [owner, shown] of hoverRulesOf(sheet)) {
        for (const element of [...matchAll(scope, owner)].slice(0, OWNERS_LIMIT)) {
          if (owners.size >= OWNERS_LIMIT) return owners;
          const inner = [...matchAll(element, shown)];
          if (inner.length && (element.matches(':hover') || inner.some(keptBack))) owners.add(element);
        }
      }
    }
  }
  return owners;
};
