// Ours before the page's scripts come: what they replace later (old libraries do) stays whole here.
const { Map, Set, WeakMap, WeakSet, WeakRef, JSON, Math, Object, Promise, Proxy, Reflect, RegExp, URL, performance, getComputedStyle, setTimeout } = globalThis;

// Libraries from before JSON was in browsers give arrays a `toJSON` of another meaning.
const asJSON = (value) => {
  const theirs = /** @type {any[]} */ ([Array, Object, String]).map((owner) => [owner.prototype, owner.prototype.toJSON]).filter(([, own]) => own);
  for (const [prototype] of theirs) delete prototype.toJSON;
  try {
    return JSON.stringify(value);
  } finally {
    for (const [prototype, own] of theirs) prototype.toJSON = own;
  }
};
