// The pages of `minitasks.py`, after the kinds of MiniWoB++: each draws itself into `area` from its
// parameters and says in `won()` whether its task is done. Most things here only listen.
"use strict";
const area = document.getElementById("area");
const $ = (what) => area.querySelector(what);
const all = (what) => [...area.querySelectorAll(what)];
const make = (tag, text = "", style = "", more = {}) => Object.assign(document.createElement(tag), { textContent: text, style, ...more });
const add = (...parts) => area.append(...parts);
const box = "border: 1px solid gray; padding: 6px; width: 200px; cursor: pointer;";
const shuffledClicks = [];
let sent = null;
const submit = (read) => add(make("button", "Submit", "", { onclick: () => { sent = read(); } }));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const MONTHS = "January February March April May June July August September October November December".split(" ");

/** Let a thing be moved by the mouse; `moved(x, y)` hears where its corner is put. */
function movable(what, moved = () => {}, dropped = () => {}) {
  what.onmousedown = (down) => {
    down.preventDefault();
    const x = what.offsetLeft - down.clientX, y = what.offsetTop - down.clientY;
    onmousemove = (e) => { moved(e.clientX + x, e.clientY + y, e); };
    onmouseup = (e) => { onmousemove = onmouseup = null; dropped(e); };
  };
}

const KINDS = {
  checkboxes({ names, wanted }) {
    for (const name of names) { const l = make("label", name, "display: block"); l.prepend(make("input", "", "", { type: "checkbox", value: name })); add(l); }
    submit(() => all("input:checked").map((e) => e.value));
    return () => same(sent, wanted);
  },
  radio({ names, wanted }) {
    for (const name of names) { const l = make("label", name, "display: block"); l.prepend(make("input", "", "", { type: "radio", name: "one", value: name })); add(l); }
    submit(() => $("input:checked")?.value);
    return () => sent === wanted;
  },
  date({ year, month, wanted }) {
    const field = make("input", "", "", { readOnly: true, ariaLabel: "Date" }), pane = make("div", "", "width: 224px; border: 1px solid", { hidden: true });
    const draw = () => {
      const days = new Date(year, month + 1, 0).getDate();
      pane.replaceChildren(
        make("span", "Prev", "cursor: pointer", { onclick: () => { month -= 1; draw(); } }), make("b", ` ${MONTHS[month]} ${year} `),
        make("span", "Next", "cursor: pointer", { onclick: () => { month += 1; draw(); } }), make("br"),
        ...Array.from({ length: days }, (_, n) => make("a", String(n + 1), "display: inline-block; width: 30px", { onclick: () => {
          field.value = `${year}-${String(month + 1).padStart(2, "0")}-${String(n + 1).padStart(2, "0")}`; pane.hidden = true; } })));
    };
    field.onclick = () => { pane.hidden = false; draw(); };
    add(field, pane);
    submit(() => field.value);
    return () => sent === wanted;
  },
  select({ names, wanted }) {
    const list = make("select");
    for (const name of names) list.append(make("option", name));
    add(make("label", "Item "), list);
    submit(() => list.value);
    return () => sent === wanted;
  },
  tabs({ tabs, wanted }) {
    let won = false;
    const bar = make("div"), pane = make("p");
    for (const [name, words] of Object.entries(tabs)) bar.append(make("span", name, "padding: 6px; border: 1px solid; cursor: pointer", { onclick: () =>
      pane.replaceChildren(...words.flatMap((word) => [make("span", word, "color: blue; cursor: pointer", { onclick: () => { won = word === wanted; } }), " "])) }));
    add(bar, pane);
    return () => won;
  },
  sections({ sections, wanted }) {
    for (const [name, word] of Object.entries(sections)) {
      const body = make("div", `Type here for ${name}: `, "", { hidden: true });
      body.append(make("button", word, "", { onclick: () => { sent = word; } }));
      add(make("h3", name, "cursor: pointer; background: #ddd", { onclick: () => { body.hidden = !body.hidden; } }), body);
    }
    return () => sent === wanted;
  },
  login({ wanted }) {
    add(make("label", "Username "), make("input", "", "", { id: "user" }), make("label", " Password "), make("input", "", "", { id: "word", type: "password" }));
    add(make("button", "Login", "", { onclick: () => { sent = [$("#user").value, $("#word").value]; } }));
    return () => same(sent, wanted);
  },
  shades({ colours, wanted }) {
    for (const colour of colours) add(make("div", "", `display: inline-block; width: 40px; height: 40px; margin: 6px; background: ${colour}`, { onclick: (e) => { e.target.style.outline = "3px solid"; shuffledClicks.push(colour); } }));
    submit(() => shuffledClicks);
    return () => same(sent, wanted);
  },
  dialog({ title, others }) {
    for (const other of others) add(make("button", other, "", { onclick: () => { sent = other; } }));
    const pane = make("div", "", "position: absolute; left: 60px; top: 60px; background: white; border: 2px solid; padding: 10px; width: 220px");
    pane.append(make("b", title), make("span", "✕", "float: right; cursor: pointer", { onclick: () => { pane.remove(); sent = "closed"; } }), make("p", "Some words that matter little."));
    add(pane);
    return () => sent === "closed";
  },
  inbox({ mails, wanted }) {
    for (const [from, about] of mails) {
      const row = make("div", "", "border-bottom: 1px solid; width: 420px"), open = make("span", `${from}: ${about}`, "cursor: pointer");
      row.append(make("span", "☆ ", "cursor: pointer", { onclick: (e) => { e.target.textContent = "★ "; sent = ["star", from]; } }), open, make("span", " 🗑", "cursor: pointer", { onclick: () => { row.remove(); sent = ["trash", from]; } }));
      add(row);
    }
    return () => same(sent, wanted);
  },
  posts({ posts, wanted }) {
    for (const [who, what] of posts) {
      const menu = make("div", "", "border: 1px solid; width: 120px", { hidden: true });
      for (const act of ["Share", "Mute", "Block"]) menu.append(make("div", act, "cursor: pointer", { onclick: () => { sent = [act, who]; menu.hidden = true; } }));
      const post = make("div", "", "border: 1px solid silver; padding: 6px; width: 320px");
      post.append(make("b", `@${who}`), make("p", what), make("span", "⋯", "cursor: pointer", { onclick: () => { menu.hidden = !menu.hidden; } }), menu);
      add(post);
    }
    return () => same(sent, wanted);
  },
  spinner({ start, wanted }) {
    let value = start;
    const shown = make("output", String(value), "padding: 8px");
    const by = (sign, step) => make("span", sign, "cursor: pointer; padding: 4px; border: 1px solid", { onclick: () => { value += step; shown.textContent = value; } });
    add(by("▲", 1), shown, by("▼", -1));
    submit(() => value);
    return () => sent === wanted;
  },
  autocomplete({ names, wanted }) {
    const field = make("input", "", "", { ariaLabel: "Tags" }), list = make("ul", "", "border: 1px solid; width: 200px", { hidden: true });
    field.onkeyup = () => {
      const fitting = names.filter((name) => field.value && name.toLowerCase().startsWith(field.value.toLowerCase()));
      list.hidden = !fitting.length;
      list.replaceChildren(...fitting.map((name) => make("li", name, "cursor: pointer", { onmousedown: () => { field.value = name; list.hidden = true; } })));
    };
    add(field, list);
    submit(() => field.value);
    return () => sent === wanted;
  },
  search({ results, wanted }) {
    const field = make("input", "", "", { ariaLabel: "Query" }), list = make("div");
    const show = (page) => list.replaceChildren(
      ...results.slice(page * 3, page * 3 + 3).map((name) => make("div", name, "color: blue; cursor: pointer", { onclick: () => { sent = name; } })),
      ...[0, 1, 2].map((n) => make("span", String(n + 1), "padding: 5px; cursor: pointer", { onclick: () => show(n) })));
    add(field, make("button", "Search", "", { onclick: () => { if (field.value === "island") show(0); } }), list);
    return () => sent === wanted;
  },
  tree({ tree, wanted }) {
    const grow = (branch, into) => { for (const [name, under] of Object.entries(branch)) {
      const item = make("li"), inner = make("ul", "", "", { hidden: true });
      item.append(make("span", name, "cursor: pointer", { onclick: () => { if (under) inner.hidden = !inner.hidden; else sent = name; } }), inner);
      if (under) grow(under, inner);
      into.append(item);
    } };
    const root = make("ul");
    grow(tree, root);
    add(root);
    return () => sent === wanted;
  },
  copy({ text }) {
    add(make("textarea", text, "width: 300px; height: 60px", { readOnly: true, ariaLabel: "Given" }), make("br"), make("input", "", "width: 300px", { ariaLabel: "Copy" }));
    submit(() => $("input").value);
    return () => sent === text;
  },
  flights({ flights, wanted }) {
    const table = make("table");
    for (const [at, to, price] of flights) { const row = table.insertRow(); for (const cell of [at, to, `$${price}`]) row.insertCell().textContent = cell; row.insertCell().append(make("div", "Book", box + "width: 50px", { onclick: () => { sent = at; } })); }
    add(table);
    return () => sent === wanted;
  },
  menu({ menu, wanted }) {
    for (const [name, parts] of Object.entries(menu)) {
      const inner = make("div", "", "position: absolute; left: 210px; top: 0; border: 1px solid; background: white; width: 120px", { hidden: true });
      for (const part of parts) inner.append(make("div", part, "cursor: pointer", { onclick: () => { sent = [name, part]; } }));
      const outer = make("div", name, box + "position: relative", { onmouseenter: () => { inner.hidden = false; }, onmouseleave: () => { inner.hidden = true; } });
      outer.append(inner);
      add(outer);
    }
    return () => same(sent, wanted);
  },
  patience({ word, wanted }) {
    let ready = false;
    const sign = make("p", "Please wait…");
    setTimeout(() => { ready = true; sign.textContent = `Code ${word}`; }, wanted);
    add(sign, make("div", "Go", box, { onclick: () => { sent = ready; } }));
    return () => sent === true;
  },
  keys({ names, wanted }) {
    let at = 0;
    const list = make("div", "", "border: 1px solid; width: 200px", { tabIndex: 0, ariaLabel: "Choices", role: "listbox" });
    const draw = () => list.replaceChildren(...names.map((name, n) => make("div", name, n === at ? "background: gold" : "", { role: "option", ariaSelected: String(n === at) })));
    list.onkeydown = (e) => {
      if (e.key === "ArrowDown") at = Math.min(at + 1, names.length - 1);
      if (e.key === "ArrowUp") at = Math.max(at - 1, 0);
      if (e.key === "Enter") sent = names[at];
      draw();
    };
    draw();
    add(list);
    return () => sent === wanted;
  },
  shapes({ shapes, wanted }) {
    const ns = "http://www.w3.org/2000/svg", sheet = document.createElementNS(ns, "svg");
    sheet.setAttribute("width", 420);
    for (const [n, [kind, colour]] of shapes.entries()) {
      const shape = document.createElementNS(ns, kind), at = { circle: { cx: 40 + n * 80, cy: 60, r: 25 }, rect: { x: 15 + n * 80, y: 35, width: 50, height: 50 } }[kind];
      for (const [name, value] of Object.entries({ ...at, fill: colour })) shape.setAttribute(name, value);
      shape.addEventListener("click", () => { sent = [kind, colour]; });
      sheet.append(shape);
    }
    add(sheet);
    return () => same(sent, wanted);
  },
  spot({ wanted }) {
    const canvas = make("canvas", "", "border: 1px solid", { width: 240, height: 160, ariaLabel: "Plan" }), pen = canvas.getContext("2d");
    pen.fillRect(wanted[0] - 4, wanted[1] - 4, 8, 8);
    canvas.onclick = (e) => { sent = [e.offsetX, e.offsetY]; };
    add(canvas);
    return () => sent && Math.hypot(sent[0] - wanted[0], sent[1] - wanted[1]) < 7;
  },
  terminal({ wanted }) {
    let line = "";
    const screen = make("pre", "> ", "background: black; color: lime; width: 400px; height: 120px");
    onkeydown = (e) => {
      if (e.key === "Enter") { sent = line; line = ""; } else if (e.key === "Backspace") line = line.slice(0, -1); else if (e.key.length === 1) line += e.key;
      screen.textContent = `> ${line}`;
    };
    add(screen);
    return () => sent === wanted;
  },
  highlight({ sentences, wanted }) {
    add(make("p", sentences.join(" ")));
    submit(() => getSelection().toString().trim());
    $("button").onmousedown = (e) => e.preventDefault();
    return () => sent === wanted;
  },
  editor({ words, wanted }) {
    const text = make("div", words.join(" "), "border: 1px solid; padding: 6px; width: 300px", { contentEditable: "true", ariaLabel: "Letter" });
    for (const act of ["Bold", "Italic"]) add(make("span", act, "cursor: pointer; padding: 4px", { onmousedown: (e) => { e.preventDefault(); document.execCommand(act.toLowerCase()); } }));
    add(text);
    return () => all("b, strong").map((e) => e.textContent).join() === wanted && !$("i, em");
  },
  terms({ lines }) {
    const pane = make("div", "", "height: 90px; width: 260px; overflow: auto; border: 1px solid", { ariaLabel: "Terms", tabIndex: 0, role: "region" });
    for (const line of lines) pane.append(make("p", line));
    const agree = make("button", "Agree", "", { disabled: true, onclick: () => { sent = "agreed"; } });
    pane.onscroll = () => { if (pane.scrollTop + pane.clientHeight > pane.scrollHeight - 4) agree.disabled = false; };
    add(pane, agree);
    return () => sent === "agreed";
  },
  hold({ names, wanted }) {
    let since = 0;
    for (const name of names) add(make("div", name, box, { onpointerdown: () => { since = Date.now(); }, onpointerup: () => { if (Date.now() - since > 900) sent = name; } }));
    return () => sent === wanted;
  },
  several({ names, wanted }) {
    const chosen = new Set();
    for (const name of names) add(make("div", name, box, { className: "row", onclick: (e) => {
      if (!e.ctrlKey) chosen.clear();
      chosen.add(name);
      all(".row").forEach((r) => { r.style.background = chosen.has(r.textContent) ? "gold" : ""; });
    } }));
    submit(() => [...chosen].sort());
    return () => same(sent, wanted);
  },
  context({ names, wanted }) {
    for (const name of names) add(make("div", name, box, { oncontextmenu: (e) => {
      e.preventDefault();
      const menu = make("div", "", `position: fixed; left: ${e.clientX}px; top: ${e.clientY}px; background: white; border: 1px solid`);
      for (const act of ["Open", "Rename", "Delete"]) menu.append(make("div", act, "cursor: pointer; padding: 4px", { onclick: () => { sent = [act, name]; menu.remove(); } }));
      document.body.append(menu);
    } }));
    return () => same(sent, wanted);
  },
  rename({ names, wanted }) {
    for (const name of names) {
      const line = make("div", name, box, { className: "row" });
      line.ondblclick = () => {
        const field = make("input", "", "", { value: line.textContent });
        field.onkeydown = (e) => { if (e.key === "Enter") line.textContent = field.value; };
        line.replaceChildren(field);
        field.focus();
      };
      add(line);
    }
    return () => same(all(".row").map((e) => e.textContent), wanted);
  },

  // Dragging and drawing.
  circle({ centre, radius }) {
    const sheet = make("div", "", "width: 300px; height: 220px; border: 1px solid", { ariaLabel: "Sheet", role: "img" });
    let points = null;
    sheet.onmousedown = () => { points = []; };
    sheet.onmousemove = (e) => { points?.push([e.offsetX, e.offsetY]); };
    sheet.onmouseup = () => { sent = points; points = null; };
    add(sheet);
    return () => {
      const turns = (sent ?? []).map(([x, y]) => [Math.hypot(x - centre[0], y - centre[1]), Math.floor(Math.atan2(y - centre[1], x - centre[0]) / (Math.PI / 4))]);
      return turns.length > 7 && turns.every(([far]) => Math.abs(far - radius) < 12) && new Set(turns.map(([, part]) => part)).size >= 8;
    };
  },
  sort({ names, wanted }) {
    const list = make("div", "", "position: relative");
    for (const name of names) {
      const item = make("div", name, box);
      movable(item, (_x, _y, e) => {
        const other = all(".item").find((o) => o !== item && e.clientY > o.getBoundingClientRect().top && e.clientY < o.getBoundingClientRect().bottom);
        if (other) other[item.compareDocumentPosition(other) & 4 ? "after" : "before"](item);
      });
      item.className = "item";
      list.append(item);
    }
    add(list);
    return () => same(all(".item").map((e) => e.textContent), wanted);
  },
  into({ name, names, wanted }) {
    const thing = make("div", name, "position: absolute; left: 20px; top: 130px; background: gold; padding: 8px; cursor: move");
    movable(thing, (x, y) => { thing.style.left = `${x}px`; thing.style.top = `${y}px`; }, (e) => {
      sent = all(".bin").find((b) => { const r = b.getBoundingClientRect(); return e.clientX > r.left && e.clientX < r.right && e.clientY > r.top && e.clientY < r.bottom; })?.textContent ?? null; });
    for (const [n, bin] of names.entries()) add(make("div", bin, `position: absolute; left: ${20 + 150 * n}px; top: 10px; width: 120px; height: 90px; border: 2px dashed`, { className: "bin" }));
    add(thing);
    return () => sent === wanted;
  },
  board({ columns, card, wanted }) {
    let held = null;
    const board = make("div", "", "display: flex; gap: 12px");
    for (const [name, cards] of Object.entries(columns)) {
      const column = make("div", "", "border: 1px solid; width: 150px; min-height: 160px", { ondragover: (e) => e.preventDefault(), ondrop: (e) => { e.preventDefault(); column.append(held); } });
      column.dataset.name = name;
      column.append(make("h4", name), ...cards.map((one) => make("div", one, box + "width: 110px", { draggable: true, ondragstart: (e) => { held = e.target; e.dataTransfer.setData("text/plain", one); } })));
      board.append(column);
    }
    add(board);
    return () => all("[data-name] > div").find((e) => e.textContent === card).parentElement.dataset.name === wanted;
  },
  slider({ start, wanted }) {
    let value = start;
    const bar = make("div", "", "position: relative; width: 300px; height: 10px; background: silver; margin: 30px 0"), knob = make("div", "", "position: absolute; top: -7px; width: 24px; height: 24px; background: teal; cursor: pointer", { className: "knob", title: "Knob" }), shown = make("output", String(value));
    const put = (v) => { value = Math.max(0, Math.min(100, Math.round(v))); knob.style.left = `${value * 3 - 12}px`; shown.textContent = value; };
    movable(knob, (x) => put((x + 12) / 3));
    put(start);
    bar.append(knob);
    add(bar, shown);
    return () => Math.abs(value - wanted) <= 1;
  },
  resize({ width, height, wanted }) {
    const pane = make("div", "Resize me", `position: absolute; left: 40px; top: 60px; width: ${width}px; height: ${height}px; border: 2px solid; box-sizing: border-box; resize: both; overflow: hidden`, { className: "pane" });
    add(pane);
    return () => Math.abs(pane.offsetWidth - wanted[0]) <= 6 && Math.abs(pane.offsetHeight - wanted[1]) <= 6;
  },
  draw({ strokes }) {
    const canvas = make("canvas", "", "border: 1px solid", { width: 300, height: 200, ariaLabel: "Sheet" }), pen = canvas.getContext("2d"), drawn = [];
    let from = null;
    const at = (e) => [Math.round(e.offsetX), Math.round(e.offsetY)];
    canvas.onmousedown = (e) => { from = at(e); pen.beginPath(); pen.moveTo(...from); };
    canvas.onmousemove = (e) => { if (from) { pen.lineTo(...at(e)); pen.stroke(); } };
    canvas.onmouseup = (e) => { if (from) drawn.push([...from, ...at(e)]); from = null; };
    add(canvas);
    const near = (a, b) => a.every((n, i) => Math.abs(n - b[i]) <= 8);
    const turned = ([a, b, c, d]) => [c, d, a, b];
    return () => drawn.length === strokes.length && strokes.every((s) => drawn.some((d) => near(d, s) || near(turned(d), s)));
  },
  pan({ wanted }) {
    const frame = make("div", "", "position: relative; width: 260px; height: 180px; overflow: hidden; border: 1px solid", { ariaLabel: "Map", role: "img" });
    const sheet = make("div", "", "position: absolute; left: -100px; top: -80px; width: 600px; height: 400px; background: linear-gradient(90deg, tan, teal); cursor: grab");
    sheet.append(make("span", "Harbour", "position: absolute; left: 220px; top: 150px"));
    movable(sheet, (x, y) => { sheet.style.left = `${x}px`; sheet.style.top = `${y}px`; });
    frame.append(sheet);
    add(frame);
    return () => Math.abs(sheet.offsetLeft + 100 - wanted[0]) <= 6 && Math.abs(sheet.offsetTop + 80 - wanted[1]) <= 6;
  },
  marquee({ names, wanted }) {
    const sheet = make("div", "", "position: relative; width: 420px; height: 120px; border: 1px solid; user-select: none", { ariaLabel: "Desk", role: "group" });
    names.forEach((name, n) => sheet.append(make("div", name, `position: absolute; left: ${20 + n * 80}px; top: 30px; width: 60px; height: 50px; border: 1px solid; pointer-events: none`, { className: "icon" })));
    let from = null;
    sheet.onmousedown = (e) => { from = e; };
    onmouseup = (e) => {
      if (!from) return;
      const left = Math.min(from.clientX, e.clientX), right = Math.max(from.clientX, e.clientX), top = Math.min(from.clientY, e.clientY), bottom = Math.max(from.clientY, e.clientY);
      from = null;
      sent = all(".icon").filter((i) => { const r = i.getBoundingClientRect(); return r.left > left && r.right < right && r.top > top && r.bottom < bottom; }).map((i) => i.textContent);
      all(".icon").forEach((i) => { i.style.background = sent.includes(i.textContent) ? "gold" : ""; });
    };
    add(sheet);
    return () => same(sent, wanted);
  },
  tiles({ names, wanted }) {
    let held = null;
    const row = make("div", "", "display: flex; gap: 8px");
    for (const name of names) row.append(make("div", name, "width: 60px; height: 60px; border: 1px solid; touch-action: none", { className: "tile", onpointerdown: (e) => { e.preventDefault(); held = e.target; } }));
    onpointerup = (e) => {
      const under = document.elementFromPoint(e.clientX, e.clientY);
      if (held && under?.className === "tile" && under !== held) [under.textContent, held.textContent] = [held.textContent, under.textContent];
      held = null;
    };
    add(row);
    return () => same(all(".tile").map((e) => e.textContent), wanted);
  },
  dial({ start, wanted }) {
    let value = start;
    const dial = make("div", "Dial", "width: 80px; height: 80px; border-radius: 50%; border: 3px solid; cursor: ns-resize; user-select: none"), shown = make("output", String(value));
    dial.onpointerdown = (down) => { dial.setPointerCapture(down.pointerId); const was = value; dial.onpointermove = (e) => { value = was + Math.round((down.clientY - e.clientY) / 2); shown.textContent = value; }; };
    dial.onpointerup = () => { dial.onpointermove = null; };
    add(dial, shown);
    return () => Math.abs(value - wanted) <= 1;
  },
};
const start = (kind, told) => { window.won = KINDS[kind](told); };
