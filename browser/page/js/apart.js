// Of things with names, what sets some of those beside each other apart: the ground of the chosen ones
// of a list, the ink of a word, the sizes of equal buttons. Two grounds by turns are a table's stripes.
const ALIKE_FROM = 3;
const LARGER = 1.15; // from which on one sees that one is larger

const tellApart = (shown) => {
  const families = new Map(); // parent -> { tag: members }
  for (const one of shown) {
    if (!one.piece || one.piece.a || EDITABLE.has(one.piece.k)) continue;
    const { parentElement, tagName } = one.element;
    const of = families.get(parentElement) ?? families.set(parentElement, {}).get(parentElement);
    (of[tagName] ??= []).push(one);
  }
  for (const family of [...families.values()].flatMap(Object.values)) {
    if (family.length < ALIKE_FROM) continue;
    tellColours(family, 'ground', 'colour');
    tellColours(family, 'ink', 'written in');
    tellSizes(family);
  }
};

const countOf = (members, by) => {
  const counts = new Map();
  for (const one of members) counts.set(by(one), (counts.get(by(one)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
};

const tellColours = (family, of, told) => {
  const counts = countOf(family, (one) => one[of]);
  const [common, most] = counts[0];
  const stripes = counts.length === 2 && most < 0.7 * family.length;
  if (counts.length === 1 || stripes) return;
  for (const one of family) {
    const colour = parseColour(one[of]);
    if ((one[of] === common && most > 1) || !colour || colour[3] < 0.5) continue;
    addState(one.piece, `${told} ${colourName(colour)}`);
  }
};

const tellSizes = (family) => {
  if (!family[0].name || countOf(family, (one) => one.name).length > 1) return;
  const boxes = family.map(({ element }) => element.getBoundingClientRect());
  const areas = boxes.map((box) => box.width * box.height);
  if (Math.max(...areas) < LARGER * Math.min(...areas)) return;
  family.forEach((one, at) => addState(one.piece, sizeOf(boxes[at])));
};

const addState = (piece, state) => { piece.s = [...(piece.s ?? []), state]; };

// Words that stand at the same place of things alike (the names of a list, a column of a table), written
// in colours that differ: `Lerwick (red)`. Code is coloured as one reads it.
const UP_TO_ALIKE = 3; // elements between words and the repeated thing that they stand in
const COLOURED_TOLD = 60;
const alikeWith = (element) => {
  let path = '', found = null;
  for (let at = element, hops = 0; at?.parentElement && hops < UP_TO_ALIKE; at = at.parentElement, hops += 1) {
    const { previousElementSibling: before, nextElementSibling: after, tagName, parentElement: parent } = at;
    if (before?.tagName === tagName || after?.tagName === tagName) found = { parent, path: tagName + path };
    path = `>${tagName}${[...parent.children].indexOf(at)}${path}`;
  }
  return found;
};

class WordInks {
  constructor() { this.families = new Map(); } // parent -> Map(path -> members)

  note(element, style, place) {
    const alike = element.closest('a,button,pre,code') ? null : alikeWith(element);
    if (!alike) return;
    const of = this.families.get(alike.parent) ?? this.families.set(alike.parent, new Map()).get(alike.parent);
    const members = of.get(alike.path) ?? of.set(alike.path, []).get(alike.path);
    members.push({ ink: element.ownerSVGElement ? style.fill : style.color, place });
  }

  tell() {
    const told = [...this.families.values()].flatMap((of) => [...of.values()]).flatMap((family) => {
      const [[common, most], ...others] = countOf(family, (one) => one.ink);
      return others.length ? family.filter(({ ink }) => (ink !== common || most <= family.length / 2) && isColoured(parseColour(ink))) : [];
    });
    for (const { ink, place } of told.slice(0, COLOURED_TOLD).reverse()) { // from the end, so that places stay right
      const { pieces, at, end } = place;
      pieces[at] = `${pieces[at].slice(0, end)} (${colourName(parseColour(ink)).replace(/ #.*/, '')})${pieces[at].slice(end)}`;
    }
  }
}
