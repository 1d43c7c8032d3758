// A board: cells side by side in rows and columns, most of them empty. What stands in it means something
// by its place, so it is read as a table.
const BOARD_FROM = 6, BOARD_TO = 400;
const CELL_WORDS = 8; // characters; what says more is no piece on a board

// Gives rows of texts, or null where the element is no board.
const boardOf = (element) => {
  const cells = [...element.children];
  if (cells.length < BOARD_FROM || cells.length > BOARD_TO) return null;
  if (cells.some((cell) => cell.firstElementChild || cell.tagName !== cells[0].tagName || cell.textContent.length > CELL_WORDS)) return null;
  const texts = cells.map((cell) => squash(cell.textContent));
  if (!texts.some(Boolean) || texts.filter(Boolean).length > cells.length * 0.7) return null;
  const boxes = cells.map((cell) => cell.getBoundingClientRect());
  if (boxes.some((box) => box.width < BOX_FROM || box.height < BOX_FROM)) return null;
  return inRows(texts, boxes);
};

const inRows = (texts, boxes) => {
  const ranks = (side) => [...new Set(boxes.map((box) => Math.round(box[side])))].sort((a, b) => a - b);
  const tops = ranks('top'), lefts = ranks('left');
  if (tops.length < 2 || lefts.length < 2 || tops.length * lefts.length !== boxes.length) return null;
  const rows = tops.map(() => lefts.map(() => ''));
  texts.forEach((text, at) => { rows[tops.indexOf(Math.round(boxes[at].top))][lefts.indexOf(Math.round(boxes[at].left))] = text; });
  return rows;
};
