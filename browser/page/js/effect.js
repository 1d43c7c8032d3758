// What an action on an element would send: `via` is click or keys; gives a phrase, or "".
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
  if (tag === 'A' && control.href && !control.getAttribute('href').startsWith('#')) return '';
  if (control.hasAttribute('aria-expanded') || control.hasAttribute('aria-haspopup')) return '';
  const sends = new RegExp('(^|[^\\p{L}])(' + [
    'post', 'send', 'submit', 'publish', 'tweet', 'reply', 'comment', 'share', 'repost', 'upload',
    'buy', 'order', 'pay', 'purchase', 'checkout', 'book', 'donate', 'transfer', 'subscribe',
    'follow', 'like', 'vote', 'delete', 'remove', 'save', 'confirm', 'apply', 'sign up', 'invite',
    'accept', 'unsubscribe', 'block', 'report', 'sell', 'bid', 'connect', 'join', 'register',
    'senden', 'absenden', 'veröffentlichen', 'kaufen', 'bestellen', 'bezahlen', 'löschen',
    'speichern', 'bestätigen', 'antworten', 'teilen', 'abonnieren', 'buchen', 'envoyer', 'publier',
    'acheter', 'commander', 'payer', 'supprimer', 'enregistrer', 'répondre', 'enviar', 'publicar',
    'comprar', 'pagar', 'eliminar', 'borrar', 'guardar', 'responder', 'inviare', 'pubblica',
    'acquista', 'elimina', 'salva', 'rispondi'].join('|') + ')([^\\p{L}]|$)', 'iu');
  return sends.test(name) ? 'presses “' + name + '”' : '';
}
