// Tables: recognises layout tables, and joins the tables that a grid draws side by side.

// A layout table is read as blocks, a data table as rows. A form that is just a row's button (edit, delete) does not make a
// table a layout table.
const BLOCKS = 'table,h1,h2,h3,ul,ol,iframe,p+p', TYPED_OR_CHOSEN = 'input:not([type=hidden],[type=submit],[type=button],[type=image]),select,textarea';
const layoutTables = new WeakMap();
const isLayout = (table) => {
  if (!table) return false; // the rows are marked only by their role
  if (!layoutTables.has(table)) {
    const forms = [...table.querySelectorAll('form')];
    layoutTables.set(table, !!table.querySelector(BLOCKS) || forms.some((form) => form.querySelector(TYPED_OR_CHOSEN)));
  }
  return layoutTables.get(table);
};

// Joins the rows of grids that draw their frozen columns as a separate table, beside the other columns (TUI Grid) or over a
// copy of the same cells (Handsontable). The rows must have the same heights and positions throughout, and touch.
const MAX_EDGE_DIFFERENCE_PX = 2; // between edges that touch
class SplitTables {
  constructor() {
    this.tables = new Map(); // the parent of rows -> [{ line, box }]
  }

  // Records a row's line, with the part of its box that is not cut off or scrolled out of view.
  note(row, line, look) {
    if (!line?.p.some((piece) => !piece.open)) return;
    const { top, bottom, left, right } = row.getBoundingClientRect(), box = { top, bottom, left, right };
    for (const around of [look.clip, look.roll?.box]) {
      if (!around) continue;
      box.left = Math.max(box.left, around.left);
      box.right = Math.min(box.right, around.right);
    }
    const parent = row.parentElement, rows = this.tables.get(parent);
    if (rows) rows.push({ line, box });
    else this.tables.set(parent, [{ line, box }]);
  }

  // Returns the lines, with joined rows merged into one line each.
  join(lines) {
    const gone = new Set(), edges = []; // the lines joined to others, and where tables meet
    const tables = [...this.tables.values()];
    for (const wanted of [(table) => table.length > 1, (table) => table.length === 1]) { // headers are joined after their rows
      const open = tables.filter(wanted), byTop = new Map();
      for (const table of open) byTop.set(rowTop(table), [...(byTop.get(rowTop(table)) ?? []), table]);
      for (const table of open) {
        for (const other of byTop.get(rowTop(table))) {
          if (table === other || gone.has(table[0].line) || gone.has(other[0].line) || !areEven(table, other)) continue;
          const edge = edgeOf(table[0].box, other[0].box);
          if (edge === null || (table.length === 1 && !edges.some((known) => Math.abs(known - edge) <= MAX_EDGE_DIFFERENCE_PX))) continue;
          if (!joinRows(table, other)) continue;
          edges.push(edge);
          for (const { line } of other) gone.add(line);
        }
      }
    }
    return gone.size ? lines.filter((line) => !gone.has(line)) : lines;
  }
}

const rowTop = (table) => Math.round(table[0].box.top);
const areEven = (table, other) => table.length === other.length
  && table.every(({ box }, at) => Math.abs(box.top - other[at].box.top) <= 1 && Math.abs(box.bottom - other[at].box.bottom) <= 1);

// Where two boxes meet, side by side or one over an end of the other; null if they do not.
const edgeOf = (box, other) => {
  if (box.right <= box.left || other.right <= other.left) return null;
  const near = (a, b) => Math.abs(a - b) <= MAX_EDGE_DIFFERENCE_PX;
  if (near(box.right, other.left)) return box.right;
  if (near(other.right, box.left)) return box.left;
  if (other.right - other.left >= box.right - box.left) return null;
  if (near(other.left, box.left)) return other.right;
  return near(other.right, box.right) ? other.left : null;
};

// Adds the cells of another table's rows to a table's rows; cells that cover cells with the same words replace them. A
// header that covers different words belongs to another table.
const joinRows = (table, other) => {
  const rows = table.map(({ line, box }, at) => {
    const { box: its } = other[at], cells = cellsOf(line.p), added = cellsOf(other[at].line.p), count = added.length;
    const isFirst = its.left < box.left + MAX_EDGE_DIFFERENCE_PX, isOver = its.right > box.left + MAX_EDGE_DIFFERENCE_PX && its.left < box.right - MAX_EDGE_DIFFERENCE_PX;
    const under = isFirst ? cells.slice(0, count) : cells.slice(-count);
    const repeats = isOver && under.every((cell, n) => wordsIn(cell) === wordsIn(added[n]));
    if (repeats) cells.splice(isFirst ? 0 : -count, count);
    return { line, cells: isFirst ? [...added, ...cells] : [...cells, ...added], fits: repeats || !isOver };
  });
  if (rows.length === 1 && !rows[0].fits) return false;
  for (const { line, cells } of rows) line.p = cells.flatMap((cell, n) => (n ? [{ c: 1 }, ...cell] : cell));
  for (const [at, { box }] of table.entries()) Object.assign(box, { left: Math.min(box.left, other[at].box.left), right: Math.max(box.right, other[at].box.right) });
  return true;
};

const cellsOf = (pieces) => pieces.reduce((cells, piece) => {
  if (piece.c) cells.push([]);
  else cells.at(-1).push(piece);
  return cells;
}, [[]]);
const wordsIn = (cell) => squash(cell.map((piece) => (typeof piece === 'string' ? piece : piece.t ?? piece.n ?? '')).join(' '));
