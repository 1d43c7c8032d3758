// Installs the hooks, and lists the functions that Python calls by name.
watchPresses(); // before hookListeners, which would record it as a listener from the page
hookListeners();
hookShadowRoots();
watchTimers();
watchNavigation();
watchNewTabs();

const library = {
  walk: (options) => asJSON(walk(options)),
  walkParts: (options) => asJSON(walkParts(options)),
  known: (element) => refOf.get(element) ?? null,
  identified: (known) => identified(known)?.outerHTML ?? null,
  stateNow: (ref) => { const { element } = resolve(ref); return element ? stateOf(element) : null; },
  register, identify, rebindAll, take, arm, settleState, refsOfText, suspects, adopt,
  aim, aimedPoint, pressDirectly, missed, stateOf, fieldIn, openedIn, swappedFor, drawnFor, openerOf, isSpreadOver, optionOf, toTheEnd, paste, drop, effect, secretTyped, submitsLogin, sendsAway, focusOf, textEnds, selectText, scroll, seek,
  context, rendered, stored, consent, coversPage, challenge, answerChallenge, drawMarks, unmark,
};
