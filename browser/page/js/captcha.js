// Finds the captcha on a page: its kind, its site key, and where its token goes.
const CHALLENGES = CAPTCHAS.map((about) => ({ ...about, frame: new RegExp(about.frame) })); // see browser/captchas.py
const MAX_CALLBACK_DEPTH = 5; // reCAPTCHA keeps a widget's callback four or five objects deep

// A widget rendered by another script has its key only in its frame's address.
const findChallenge = () => {
  for (const element of everyElement()) {
    for (const about of CHALLENGES) {
      if (element.classList.contains(about.widget) || (element.dataset?.sitekey && scriptOf(about))) {
        if (element.dataset.sitekey) return { about, element, key: element.dataset.sitekey };
      } else if (element.tagName === 'IFRAME') {
        const key = about.frame.exec(element.src)?.[1];
        if (key) return { about, element, key };
      }
    }
  }
  return null;
};
const scriptOf = (about) => [...document.scripts].some((script) => script.src.includes(about.script));

// A widget's frames contain no token field.
const inWidget = () => window !== window.parent && CHALLENGES.some((about) => about.hosts.some((name) => location.hostname === name || location.hostname.endsWith(`.${name}`)));

const challenge = () => {
  if (inWidget()) return null;
  const found = findChallenge();
  if (!found) return null;
  const { about, element, key } = found;
  const enterprise = /recaptcha\/enterprise/.test(element.src ?? '') || [...document.scripts].some((script) => /recaptcha\/enterprise/.test(script.src));
  return {
    kind: about.kind, site_key: key, url: location.href,
    invisible: element.dataset.size === 'invisible' || /[?&]size=invisible/.test(element.src ?? ''),
    enterprise: about.kind === 'recaptcha' && enterprise,
    action: element.dataset.action ?? '', data: element.dataset.s ?? element.dataset.cdata ?? '',
  };
};

// Returns the function with a (dotted) name on the window.
const named = (path) => path?.split('.').reduce((at, name) => at?.[name], globalThis);

const grecaptchaCallback = () => {
  const within = (object, depth) => {
    for (const [name, value] of Object.entries(object ?? {})) {
      if (name === 'callback' && (typeof value === 'function' || typeof named(String(value)) === 'function')) return value;
      const inner = depth && value && typeof value === 'object' && !(value instanceof Node) ? within(value, depth - 1) : null;
      if (inner) return inner;
    }
    return null;
  };
  return within(globalThis.___grecaptcha_cfg?.clients, MAX_CALLBACK_DEPTH);
};

const responseFields = ({ about, element }) => {
  const fields = [...everyElement()].filter((field) => about.fields.includes(field.getAttribute('name')));
  if (fields.length) return fields;
  const field = Object.assign(document.createElement('input'), { type: 'hidden', name: about.fields[0] });
  element.after(field);
  return [field];
};

// Returns what was done with the token: 'callback', 'submitted', or 'filled' if a button must be clicked next.
const answerChallenge = (token) => {
  const found = findChallenge();
  if (!found) return '';
  const fields = responseFields(found);
  for (const field of fields) {
    field.value = token;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new Event('change', { bubbles: true }));
  }
  const api = globalThis[found.about.api];
  if (api) api.getResponse = () => token;
  const wanted = found.element.dataset.callback ?? (found.about.kind === 'recaptcha' ? grecaptchaCallback() : null);
  const callback = typeof wanted === 'function' ? wanted : named(wanted);
  if (typeof callback === 'function') {
    callback(token);
    return 'callback';
  }
  const form = fields[0].form;
  if (!form || form.querySelector('button,input:not([type=hidden]),select,textarea:not([name$=-response])')) return 'filled';
  form.requestSubmit();
  return 'submitted';
};
