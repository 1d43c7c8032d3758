// Closes the most common platforms' consent dialogs if they cover the page, by rejecting if possible.
// Nothing outside this list is ever clicked automatically: users who post content can give it any class, but on a site that
// confines such content, they cannot make it cover the page.
// Platform: [selectors to reject, to close without choosing, to accept], each in order of preference.
const CONSENT_PLATFORMS = {
  OneTrust: ['#onetrust-reject-all-handler, .ot-pc-refuse-all-handler', '#onetrust-banner-sdk .onetrust-close-btn-handler', '#onetrust-accept-btn-handler'],
  Cookiebot: ['#CybotCookiebotDialogBodyButtonDecline, #CybotCookiebotDialogBodyLevelButtonLevelOptinDeclineAll', '#CybotCookiebotDialogBodyLevelButtonLevelOptinAllowallSelection', '#CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll, #CybotCookiebotDialogBodyButtonAccept'],
  Didomi: ['#didomi-notice-disagree-button, .didomi-continue-without-agreeing', '.didomi-popup-close', '#didomi-notice-agree-button'],
  Usercentrics: ['[data-testid=uc-deny-all-button], #usercentrics-cmp-ui button#deny, .uc-deny-button', '', '[data-testid=uc-accept-all-button], #usercentrics-cmp-ui button#accept, .uc-accept-button'],
  Quantcast: ['.qc-cmp2-summary-buttons button[id*=disagree], .qc-cmp2-footer button[id*=disagree], #disagree-btn', '.qc-cmp2-close-icon', '.qc-cmp2-summary-buttons button[mode=primary], #accept-btn.qc-cmp2-button'],
  TrustArc: ['#truste-consent-required, .truste-consent-required, .pdynamicbutton .rejectAll', '#truste-consent-close', '#truste-consent-button'],
  Sourcepoint: ['button.sp_choice_type_13, button.sp_choice_type_REJECT_ALL', 'button.sp_choice_type_15, button.message-close-button', 'button.sp_choice_type_11, button.sp_choice_type_ACCEPT_ALL'],
  Google: ['#W0wltc, ytd-consent-bump-v2-lightbox button[aria-label*=Reject]', '', '#L2AGLb'],
  'Funding Choices': ['.fc-consent-root .fc-cta-do-not-consent', '.fc-consent-root .fc-close', '.fc-consent-root .fc-cta-consent'],
  CookieYes: ['.cky-btn-reject', '.cky-banner-btn-close', '.cky-btn-accept'],
  Complianz: ['.cmplz-cookiebanner .cmplz-deny', '.cmplz-cookiebanner .cmplz-close', '.cmplz-cookiebanner .cmplz-accept'],
  Borlabs: ['[data-cookie-refuse], .brlbs-btn-accept-only-essential', '', '[data-cookie-accept-all], .brlbs-btn-accept-all'],
  Osano: ['.osano-cm-denyAll, .osano-cm-dialog .osano-cm-deny', '.osano-cm-dialog__close', '.osano-cm-accept-all, .osano-cm-dialog .osano-cm-accept'],
  iubenda: ['.iubenda-cs-reject-btn', '.iubenda-cs-close-btn', '.iubenda-cs-accept-btn'],
  Klaro: ['.klaro .cn-decline', '', '.klaro .cm-btn-success'],
  'Cookie Consent': ['.cc-window .cc-deny, #cm [data-role=necessary], #c-bns #c-s-bn', '.cc-window .cc-dismiss, .cc-window .cc-close', '.cc-window .cc-allow, #cm [data-role=all]'],
  Civic: ['#ccc-notify-reject, #ccc-reject-settings', '#ccc-close', '#ccc-notify-accept'],
  consentmanager: ['#cmpbox .cmpboxbtnno, #cmpwelcomebtnno a', '', '#cmpbox .cmpboxbtnyes, #cmpwelcomebtnyes a'],
  Axeptio: ['#axeptio_btn_dismiss', '', '#axeptio_btn_acceptAll'],
  tarteaucitron: ['#tarteaucitronAllDenied2', '#tarteaucitronCloseCross', '#tarteaucitronPersonalize2'],
  Termly: ['[data-tid=banner-decline]', '', '[data-tid=banner-accept]'],
  'Cookie-Script': ['#cookiescript_reject', '#cookiescript_close', '#cookiescript_accept'],
  HubSpot: ['#hs-eu-decline-button', '', '#hs-eu-confirmation-button'],
  Shopify: ['#shopify-pc__banner__btn-decline', '', '#shopify-pc__banner__btn-accept'],
  Amazon: ['#sp-cc-rejectall-link', '', '#sp-cc-accept'],
};
const MAX_CONSENT_PAGE_ELEMENTS = 40000; // searching a larger page would take seconds
const CONSENT_WAYS = ['rejected', 'closed', 'accepted'];

const MIN_COVERED_SHARE = 0.3; // of the window; a bar at the edge leaves the page readable, and is kept

// Whether an element is in a layer that covers much of the window, or in any layer if all layers together cover the window.
const coversPage = (element) => {
  const layer = outward(element, (at) => PINNED.has(getComputedStyle(at).position));
  if (!layer) return false;
  const { left, top, right, bottom } = cut(layer.getBoundingClientRect(), { left: 0, top: 0, right: innerWidth, bottom: innerHeight });
  const share = (Math.max(0, right - left) * Math.max(0, bottom - top)) / (innerWidth * innerHeight);
  return share >= MIN_COVERED_SHARE || layersOver(() => true).length > 0;
};

// Whether a click may do more than close the dialog, such as open an address, submit a form or press another control.
const NO_ADDRESS = /^\s*(#|javascript:\s*(void\s*\(?\s*0\s*\)?)?\s*;?)?\s*$/i;
const doesMore = (button) => {
  const link = button.closest('a'), control = button.closest('button,input');
  const address = link?.getAttribute('href') ?? link?.getAttribute('xlink:href') ?? '';
  return !NO_ADDRESS.test(address) || (!!control?.form && /^(submit|image|reset)$/.test(control.type)) || !!button.closest('label');
};

// Usercentrics and a few others use the shadow root of an element directly below the body.
const consentRoots = () => [document, ...[...(document.body?.children ?? [])].map(shadowOf).filter(Boolean)];

// A dialog in a frame fills the frame: whether that covers the page is checked in the outer page.
const findConsent = () => {
  if (document.getElementsByTagName('*').length > MAX_CONSENT_PAGE_ELEMENTS) return null;
  const roots = consentRoots();
  const closes = (one) => isShownAtAll(one) && one.getClientRects().length && !doesMore(one) && (window.parent !== window || coversPage(one));
  for (const [platform, selectors] of Object.entries(CONSENT_PLATFORMS)) {
    for (const [index, selector] of selectors.entries()) {
      const button = (selector ? roots.flatMap((root) => [...root.querySelectorAll(selector)]) : []).find(closes);
      if (button) return { platform, way: CONSENT_WAYS[index], button };
    }
  }
  return null;
};

// Finds a dialog and, with `press`, presses its button once: a dialog that stays open is left open. Returns [platform, way,
// whether the button was pressed now], or null.
const pressedToClose = new WeakSet();
const consent = ({ press }) => {
  const found = findConsent();
  if (!found) return null;
  const { platform, way, button } = found, presses = press && !pressedToClose.has(button);
  if (presses) {
    pressedToClose.add(button);
    button.click();
  }
  return [platform, way, presses];
};
