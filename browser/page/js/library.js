const take = (ref) => {
  arm();
  const found = resolve(ref);
  taken = found.element;
  return found.element ?? { why: found.why, candidates: found.candidates };
};
let taken = null; // what was acted on last

watchPresses(); // first: it is no listener of the page
watchListeners();
watchHandlers();
watchBinding();
openShadowRoots();
watchTimers();
watchNavigation();
watchNewTabs();

const library = {
  walk: (options) => asJSON(walk(options)),
  walkParts: (options) => asJSON(walkParts(options)),
  stateOf, fieldIn, drawnFor, paste, focusOf, toTheEnd, optionOf, stored, missed, drop, effect,
  take, arm, aim, restState, context, rendered, consent, challenge, answerChallenge, textEnds, selectText, refsOfText, scroll, seek, suspects, adopt, drawMarks, unmark, register, identify,
  identified: (known) => identified(known)?.outerHTML ?? null,
};
library.known = (element) => refOf.get(element) ?? null;
