const take = (ref) => {
  arm();
  const found = resolve(ref);
  lastNote = found.note ?? '';
  taken = found.element;
  return found.element ?? { why: found.why, candidates: found.candidates };
};
let lastNote = '';
let taken = null; // what was acted on last

watchListeners();
watchHandlers();
watchBinding();
openShadowRoots();
watchTimers();
watchNavigation();
watchNewTabs();

const library = {
  walk: (options) => asJSON(walk(options)),
  fieldKind, toTheEnd, isOn, optionIndex, kept,
  take, arm, aim, quietIn, context, html, consent, wall, challenge, answerChallenge, textEnds, selectText, refsOfText, scroll, suspects, adopt, drawMarks, unmark, register,
  note: () => lastNote,
};
library.frameNumber = frameNumber;
library.known = (element) => refOf.get(element) ?? null;
