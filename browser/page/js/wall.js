// What a wall is judged by: visible text, fields, frames. The judgement itself is made outside.
const WALL_TEXT = 4000;
const wall = () => {
  const shown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().height > 20;
  const text = document.body?.innerText ?? '';
  return {
    title: document.title, text: text.slice(0, WALL_TEXT), length: text.length,
    frames: [...document.querySelectorAll('iframe')].filter(shown).map((frame) => frame.src.slice(0, 200)),
    password: [...document.querySelectorAll('input[type=password]')].some(shown),
    fields: [...document.querySelectorAll('input:not([type=hidden],[type=submit],[type=button]),textarea,select')].filter(shown).length,
    challenge: !!document.querySelector('#challenge-form, #cf-challenge-running, .cf-turnstile, #px-captcha, .g-recaptcha:not([data-size=invisible]), .h-captcha, [data-sitekey]:not([data-size=invisible])'),
    paywall: [...document.querySelectorAll('[class*=paywall i], [id*=paywall i], [data-testid*=paywall i]')].some(shown),
    marked: /"isAccessibleForFree"\s*:\s*"?false/i.test([...document.querySelectorAll('script[type="application/ld+json"]')].map((s) => s.textContent).join('')),
  };
};
