// What HTML itself sends for an action on an element: `via` is click or keys; a phrase, or "".
(element, via) => {
  const control = element.closest(
    'button, input, [role=button], [role=menuitem], a, summary, textarea, [contenteditable]') || element;
  const form = control.form || control.closest('form');
  const name = (control.getAttribute('aria-label') || control.value || control.innerText || '')
    .trim().replace(/\s+/g, ' ').slice(0, 80);
  const target = () => form.action ? ' to ' + String(form.getAttribute('action') || location.pathname) : '';
  const tag = control.tagName;
  const type = (control.getAttribute('type') || '').toLowerCase();
  if (via === 'keys') {
    if (form && tag !== 'TEXTAREA' && tag !== 'BUTTON') return 'submits a form' + target();
    return control.isContentEditable || tag === 'TEXTAREA' ? 'may send what is written' : '';
  }
  if (type === 'file') return 'hands over a file';
  const submits = (tag === 'BUTTON' && (type === '' || type === 'submit')) ||
    (tag === 'INPUT' && (type === 'submit' || type === 'image'));
  if (form && submits) return 'submits a form' + target() + ' (“' + name + '”)';
  return '';
}
