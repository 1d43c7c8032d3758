// What a person has before them: address, title, selection, focus, text, dates.
const meta = (...names) => {
  for (const name of names) {
    const found = /** @type {HTMLMetaElement} */ (document.querySelector(`meta[property="${name}"],meta[name="${name}"],meta[itemprop="${name}"]`));
    if (found?.content) return found.content.trim();
  }
  return null;
};

const linkedData = () => {
  for (const script of document.querySelectorAll('script[type="application/ld+json"]')) {
    const found = /"datePublished"\s*:\s*"([^"]{4,40})"/.exec(script.textContent);
    if (found) return found[1];
  }
  return null;
};

const selectedText = () => {
  const active = /** @type {HTMLInputElement} */ (document.activeElement);
  if (active && typeof active.selectionStart === 'number' && active.type !== 'password') {
    const text = active.value.slice(active.selectionStart, active.selectionEnd);
    if (text) return text;
  }
  return String(getSelection() ?? '');
};

const context = ({ limit }) => {
  const active = document.activeElement;
  const focused = active && active !== document.body && active !== document.documentElement;
  return {
    url: location.href, title: document.title, selection: selectedText().slice(0, limit),
    visible_text: seenText(limit).slice(0, limit),
    canonical_url: /** @type {HTMLLinkElement} */ (document.querySelector('link[rel~="canonical"]'))?.href ?? null,
    focused: focused ? line(active) + (isLabelOnly(active) ? ` (${LABEL_ONLY})` : '') : null,
    language: document.documentElement.lang || meta('og:locale', 'content-language'),
    published: meta('article:published_time', 'datePublished', 'date', 'pubdate', 'dc.date') ?? linkedData()
      ?? document.querySelector('time[datetime]')?.getAttribute('datetime') ?? null,
    visible: document.visibilityState === 'visible', focus: document.hasFocus(),
  };
};

// What the page's site keeps in this browser; `bytes` are those of its databases.
const stored = async () => {
  const items = (name) => { try { return Object.entries(window[name]); } catch { return []; } };
  const soon = (asked) => Promise.race([asked, new Promise((done) => { setTimeout(done, 300); })]);
  let bytes = 0;
  try {
    if ((await soon(indexedDB.databases()))?.length) {
      const estimate = await soon(navigator.storage?.estimate());
      bytes = estimate?.usageDetails?.indexedDB || 1;
    }
  } catch { /* a page without an origin of its own has none */ }
  return { local: items('localStorage'), session: items('sessionStorage'), bytes };
};
