// @ts-check
// The page of `research serve`: plain DOM, no library. Data from runs is inserted as text.

/** @template {Element} T @param {string} css @param {ParentNode} [root] @returns {T | null} */
const find = (css, root = document) => /** @type {T | null} */ (root.querySelector(css));
/** @param {string} css @param {ParentNode} [root] */
const findAll = (css, root = document) => /** @type {HTMLElement[]} */ ([...root.querySelectorAll(css)]);

/** @param {string} tag @param {Record<string, string>} [attributes] @param {...(Node | string)} inside */
function make(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

/** @param {string} words */
function announce(words) {
  const place = find('#said');
  if (!place) return;
  place.textContent = words;
  window.setTimeout(() => { if (place.textContent === words) place.textContent = ''; }, 4000);
}

/** Tells the server to name this page's controls in its hints; other clients get fields' names. */
const PAGE = { 'x-urchin-page': '1' };

/** @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<any>} */
async function request(method, path, body) {
  const sent = body === undefined ? { headers: PAGE } : { body: JSON.stringify(body), headers: { ...PAGE, 'content-type': 'application/json' } };
  const answer = await fetch(path, { method, ...sent });
  const reply = await answer.json();
  if (!answer.ok) throw new Error([reply.error.message, reply.error.hint].filter(Boolean).join('. '));
  return reply;
}

/** Show times in the user's time zone and format. @param {ParentNode} [root] */
function localiseTimes(root = document) {
  for (const one of findAll('time[datetime]', root)) {
    const at = new Date(one.getAttribute('datetime') || '');
    if (!Number.isNaN(at.getTime())) one.textContent = at.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
  }
}

/** Uploads in progress: a question waits for them. @type {Promise<unknown>} */
let uploads = Promise.resolve();

/** Upload files for a form's question. @param {HTMLFormElement} form @param {Iterable<File>} files */
function uploadFiles(form, files) {
  const list = /** @type {HTMLElement | null} */ (find('.files', form));
  for (const file of files) {
    uploads = Promise.all([uploads, (async () => {
      const answer = await fetch(`/api/files?name=${encodeURIComponent(file.name)}`, { method: 'POST', body: file, headers: { ...PAGE, 'content-type': 'application/octet-stream' } });
      const stored = await answer.json();
      if (!answer.ok) { showError(form, new Error(`${file.name}: ${stored.error.message}`)); return; }
      const remove = make('button', { type: 'button', class: 'quiet', 'aria-label': `Remove ${stored.name}` }, '✕');
      const item = make('li', { 'data-id': stored.id, class: 'tag' }, stored.name, remove);
      remove.addEventListener('click', () => { item.remove(); if (list) list.hidden = !list.childElementCount; });
      if (list) { list.append(item); list.hidden = false; }
      announce(`Added ${stored.name}`);
    })().catch((error) => showError(form, error))]);
  }
}

for (const form of /** @type {HTMLFormElement[]} */ (findAll('form.ask'))) {
  form.addEventListener('dragover', (event) => { event.preventDefault(); form.classList.add('over'); });
  form.addEventListener('dragleave', () => form.classList.remove('over'));
  form.addEventListener('drop', (event) => {
    event.preventDefault();
    form.classList.remove('over');
    uploadFiles(form, event.dataTransfer?.files || []);
  });
  const chooser = /** @type {HTMLInputElement | null} */ (find('[data-upload]', form));
  chooser?.addEventListener('change', () => { uploadFiles(form, [...(chooser.files || [])]); chooser.value = ''; });
}

let refreshes = 0;

/** Reload the lists of this page without changing text typed into its forms. */
async function refreshLists() {
  const own = refreshes += 1;
  const made = new DOMParser().parseFromString(await (await fetch(location.href)).text(), 'text/html');
  if (own !== refreshes) return; // a later refresh is newer
  for (const part of findAll('[data-part]')) {
    const now = find(`[data-part="${part.dataset.part}"]`, made);
    if (now) part.replaceWith(now);
  }
  if (document.activeElement === document.body) /** @type {HTMLElement | null} */ (find('#main'))?.focus();
  fillZones();
  localiseTimes();
}

/** Return the non-empty fields. @param {FormData} data */
const filledFields = (data) => Object.fromEntries([...data].filter(([, value]) => String(value).trim()));

/** @param {Element | null} form @param {unknown} error */
function showError(form, error) {
  const words = error instanceof Error ? error.message : String(error);
  const place = form && /** @type {HTMLElement | null} */ (form.querySelector('[role=alert]'));
  if (!place) { announce(words); return; }
  place.textContent = words;
  place.hidden = false;
}

/** @type {Record<string, (form: HTMLFormElement, data: FormData) => Promise<void> | void>} */
const formActions = {
  async ask(form, data) {
    /** @type {Record<string, unknown>} */
    const asked = { question: data.get('question'), source: data.get('source'), attended: true };
    const depth = data.get('depth');
    if (depth === 'report') Object.assign(asked, { depth: 'deep', report: true });
    else asked.depth = depth;
    if (data.get('plan')) asked.plan = true;
    for (const name of ['budget', 'timeout']) if (data.get(name)) asked[name] = Number(data.get(name));
    if (data.get('site')) asked.site = data.get('site');
    if (data.get('model')) asked.model = data.get('model');
    await uploads;
    asked.files = findAll('.files li', form).map((one) => one.dataset.id);
    if (form.dataset.continues) asked.continues = form.dataset.continues;
    location.assign(`/runs/${(await request('POST', '/api/runs', asked)).run}`);
  },
  async key(form, data) {
    await request('POST', '/settings/keys', { provider: data.get('provider'), key: data.get('key') });
    form.reset();
    announce('The key is stored.');
  },
  async tags(_form, data) {
    const tags = String(data.get('tags')).split(',').filter((tag) => tag.trim());
    await request('PUT', `${api()}/tags`, { tags });
    announce('Saved');
  },
  async hint(form, data) {
    if (!String(data.get('hint')).trim()) return;
    await request('POST', `${api()}/hint`, { hint: data.get('hint') });
    form.reset();
    announce('Sent. The model reads it with the next tool result.');
  },
  async type(form, data) {
    await actOnPage({ kind: 'text', text: String(data.get('text')) });
    form.reset();
  },
  async section(_form, data) {
    const path = `${api()}/again?section=${encodeURIComponent(String(data.get('section')))}`;
    location.assign(`/runs/${(await request('POST', path)).run}`);
  },
  compare(_form, data) {
    const chosen = data.getAll('pick').map(String).sort();
    if (chosen.length !== 2) throw new Error('Choose two runs.');
    location.assign(`/diff/${chosen[0]}/${chosen[1]}`);
  },
  async remember(form, data) {
    await request('POST', '/api/memory', { key: data.get('key'), value: data.get('value') });
    form.reset();
    await refreshLists();
  },
  async queue(form, data) {
    await request('POST', '/api/queue', { question: data.get('question'), priority: Number(data.get('priority')) });
    form.reset();
    await refreshLists();
  },
  async schedule(form, data) {
    await request('POST', '/api/schedules', filledFields(data));
    form.reset();
    await refreshLists();
  },
  async monitor(form, data) {
    await request('POST', '/api/monitors', filledFields(data));
    form.reset();
    await refreshLists();
  },
  async answer(form, data) {
    await request('POST', `${api()}/answer`, { n: Number(form.dataset.n), answer: data.get('answer') || '' });
  },
};

document.addEventListener('submit', async (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const handle = formActions[form.dataset.form || ''];
  if (!handle) return;
  event.preventDefault();
  const button = /** @type {HTMLButtonElement | null} */ (form.querySelector('button[type=submit]'));
  if (button) button.disabled = true;
  try {
    await handle(form, new FormData(form));
  } catch (error) {
    showError(form, error);
  } finally {
    if (button) button.disabled = false;
  }
});

document.addEventListener('keydown', (event) => {
  const field = /** @type {HTMLElement} */ (event.target);
  if (event.key === 'Enter' && !event.shiftKey && field.id === 'question' && !event.isComposing) {
    event.preventDefault();
    /** @type {HTMLTextAreaElement} */ (field).form?.requestSubmit();
  }
});

const run = /** @type {HTMLElement | null} */ (find('#run'));
const api = () => `/api/runs/${run?.dataset.run}`;

/** @type {Record<string, (button: HTMLButtonElement) => Promise<unknown> | void>} */
const buttonActions = {
  async stop() { await request('POST', `${api()}/stop`); },
  async resume() { await request('POST', `${api()}/resume`, { attended: true }); location.reload(); },
  async again() {
    const begun = await request('POST', `${api()}/again`);
    announce('Asked again…');
    const events = new EventSource(begun.events);
    events.addEventListener('end', () => { events.close(); location.assign(`/diff/${run?.dataset.run}/${begun.run}`); });
  },
  async delete(button) {
    if (button.dataset.sure) { await request('DELETE', api()); location.assign('/library'); return; }
    button.dataset.sure = 'yes';
    button.textContent = 'Delete permanently?';
  },
  async look() { await takePicture(); },
  close() { /** @type {HTMLDialogElement | null} */ (find('dialog'))?.close(); },
  saved(button) {
    const frame = /** @type {HTMLIFrameElement | null} */ (find('dialog iframe'));
    if (!frame) return;
    frame.src = `/runs/${run?.dataset.run}/saved/${frame.dataset.n}#words`;
    frame.hidden = false;
    button.hidden = true;
    const passage = /** @type {HTMLElement | null} */ (find('#passage'));
    if (passage) passage.hidden = true;
  },
  async forget(button) {
    const row = /** @type {HTMLElement | null} */ (button.closest('li'));
    await request('DELETE', `/api/memory/${row?.dataset.id}`);
    row?.remove();
    announce('Deleted');
  },
  async trust(button) {
    const row = /** @type {HTMLElement | null} */ (button.closest('li'));
    await request('POST', `/api/memory/${row?.dataset.id}/trust`);
    row?.querySelector('.unsure')?.remove();
    button.remove();
    announce('Trusted');
  },
  async doctor() {
    const place = find('#findings');
    announce('Checking…');
    const found = /** @type {{name: string, well: boolean, seen: string, fix: string}[]} */ (await request('GET', '/settings/doctor'));
    const rows = found.map((one) => make('li', {},
      make('strong', { class: one.well ? 'supported' : 'contradicted' }, one.well ? 'OK' : 'failed'),
      ` ${one.name}: ${one.seen}${one.well || !one.fix ? '' : ` → ${one.fix}`}`));
    place?.replaceChildren(make('ul', { class: 'findings' }, ...rows));
  },
};

document.addEventListener('click', async (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  const mark = /** @type {HTMLAnchorElement | null} */ (target.closest('a.cite'));
  if (mark && find('dialog')) { event.preventDefault(); showPassage(mark); return; }
  const button = /** @type {HTMLButtonElement | null} */ (target.closest('button[data-do], button[data-keys], button[data-scroll], button[data-post], button[data-delete]'));
  if (!button) return;
  button.disabled = true;
  try {
    if (button.dataset.post) { await request('POST', button.dataset.post); await refreshLists(); }
    else if (button.dataset.delete) { await request('DELETE', button.dataset.delete); await refreshLists(); }
    else if (button.dataset.keys) await actOnPage({ kind: 'keys', text: button.dataset.keys });
    else if (button.dataset.scroll) await actOnPage({ kind: 'scroll', y: Number(button.dataset.scroll) });
    else await buttonActions[button.dataset.do || '']?.(button);
  } catch (error) {
    showError(button.closest('form'), error);
  } finally {
    button.disabled = false;
  }
});

/** Show the cited passage in its context, with a link to the saved page. @param {HTMLAnchorElement} mark */
function showPassage(mark) {
  const dialog = /** @type {HTMLDialogElement | null} */ (find('dialog'));
  const words = document.getElementById(mark.hash.slice(1));
  const card = words?.closest('.source');
  if (!dialog || !card) return;
  const excerpt = words?.closest('blockquote') || card.querySelector('blockquote');
  const copy = excerpt ? /** @type {Element} */ (excerpt.cloneNode(true)) : make('p', {}, 'No quote.');
  for (const one of copy.querySelectorAll('[id]')) {
    if (one.id !== words?.id) one.replaceWith(...one.childNodes);
    else one.removeAttribute('id');
  }
  const link = /** @type {HTMLAnchorElement | null} */ (card.querySelector('h3 a'));
  const original = /** @type {HTMLAnchorElement | null} */ (find('#original'));
  const title = find('#page-title');
  if (title) title.textContent = card.querySelector('h3')?.textContent || '';
  if (original) { original.hidden = !link; if (link) original.href = link.href; }
  const passage = /** @type {HTMLElement | null} */ (find('#passage'));
  if (passage) { passage.hidden = false; passage.replaceChildren(copy); }
  const frame = /** @type {HTMLIFrameElement | null} */ (find('iframe', dialog));
  if (frame) { frame.hidden = true; frame.removeAttribute('src'); frame.dataset.n = card.id.replace('source-', ''); }
  const button = /** @type {HTMLElement | null} */ (find('[data-do=saved]', dialog));
  if (button) button.hidden = false;
  dialog.showModal();
}

// ---- watching -------------------------------------------------------------------------------

/** @type {Map<string, string>} */
const replies = new Map();
/** Titles of the sources read, by number. @type {Map<number, string>} */
const titles = new Map();
let usd = 0;
let sources = 0;
let began = 0;

/** @param {string} text */
const withoutTags = (text) => text.replace(/<<THINK>>[\s\S]*?(<<\/THINK>>|$)/g, '').replace(/<<TOOL:[\s\S]*?(>>|$)/g, '').trim();

/** Mark the citations in a draft: the model cites passages of sources that it has read. @param {string} text */
function withCitations(text) {
  return text.split(/(\[S\d+(?:¶[\d ,–-]+)?\])/).map((piece) => {
    const read = /^\[S(\d+)/.exec(piece);
    const title = read && titles.get(Number(read[1]));
    return title ? make('span', { class: 'cite', title }, `[${read[1]}]`) : piece;
  });
}

/** @param {string} place @param {string} head @param {string} [more] */
function addStep(place, head, more = '') {
  const list = find('#steps');
  const last = /** @type {HTMLElement | null} */ (list?.lastElementChild || null); // events without a step go to the last step
  const name = place.split('/').slice(0, 2).join('/') || last?.dataset.place || '';
  let item = /** @type {HTMLElement | null} */ (find(`li[data-place="${CSS.escape(name)}"]`, list || document));
  if (!item) {
    item = make('li', { 'data-place': name }, make('h3', {}, /^0\/\d/.test(name) ? `Step ${name.slice(2)}` : name || 'Start'));
    list?.append(item);
  }
  if (head) item.append(make('p', {}, make('span', { class: 'tool' }, head), ` ${more}`));
  return item;
}

/** @param {Record<string, any>} data */
const argumentsOf = (data) => {
  try { return Object.values(JSON.parse(data.param)).join(' · '); } catch { return data.param; }
};

/** Show what the run is currently doing. @param {string} words */
function showActivity(words) {
  const place = find('#activity');
  if (place) place.textContent = words;
}

/** What the run is doing during a call of each tool. @type {Record<string, string>} */
let activities = {};

/** @param {string} name */
const activityOf = (name) => (activities[name] ? activities[name][0].toUpperCase() + activities[name].slice(1) : name);

/** @type {Record<string, (data: any, place: string, at: string) => void>} */
const eventActions = {
  'run.started': (_data, _place, at) => { began = Date.parse(at); showActivity('Getting ready'); },
  'corpus.indexed': (data) => { showActivity(data.left ? `Indexing your files: ${data.files - data.left} of ${data.files}` : 'Your files are indexed'); },
  'model.request': (_data, place) => { if (!place.startsWith('after')) showActivity(run?.dataset.keyless ? 'Looking for passages' : 'Thinking'); },
  'tools.offered': (data) => { activities = data.activities || {}; },
  'tool.call': (data) => { showActivity(`${activityOf(data.name)} ${argumentsOf(data)}`.slice(0, 200)); },
  'model.delta': (data, place) => {
    replies.set(place, (data.anew ? '' : replies.get(place) || '') + data.text);
    const draft = find('#draft');
    if (draft && place.startsWith('0/')) draft.replaceChildren(...withCitations(withoutTags(replies.get(place) || '')));
  },
  'model.reply': (data, place) => { usd += data.usd || 0; replies.delete(place); },
  thought: (data, place) => { addStep(place, 'thinks', data.text.slice(0, 280)); },
  'tool.result': (data, place) => {
    const failed = data.data && data.data.error;
    const item = addStep(place, data.name, `${argumentsOf(data)}${failed ? ` — failed: ${failed}` : ''}`);
    for (const [name, digest] of Object.entries(data.blobs || {})) {
      if (/\.(png|jpe?g)$/.test(name)) item.append(make('img', { class: 'steps-picture', loading: 'lazy', alt: `The page at step ${place}`, src: `${api()}/pictures/${digest}` }));
    }
    followPage();
  },
  'search.attempt': (data) => {
    find('#trail')?.append(make('li', {}, make('span', { class: 'tool' }, data.provider), ` ${data.query} — ${data.outcome === 'ok' ? `${data.results} results` : data.outcome}`));
  },
  'source.added': (data, place) => { sources += 1; titles.set(data.n, data.title || data.url); addStep(place, `read [${data.n}]`, data.title || data.url); },
  'policy.refused': (data, place) => { addStep(place, 'refused', `${data.name} ${data.effect}`); },
  'policy.approved': (data, place) => { addStep(place, 'approved', `${data.effect} (${data.by})`); },
  'answer.draft': () => { showActivity('Checking the answer'); },
  'answer.verified': () => { const draft = find('#draft'); if (draft && !draft.textContent) draft.textContent = 'Checking the answer…'; },
  'hint.unread': (data) => {
    const late = /** @type {HTMLElement | null} */ (find('#late'));
    if (!late) return;
    late.textContent = `Your hint came too late; the model had already finished: ${data.hints.join(' · ')}`;
    late.hidden = false;
  },
  asked: (data) => showQuestion(data),
  answered: (data) => find(`.question[data-n="${data.n}"]`)?.remove(),
};

/** Show a run's question, or its request to approve a risky step. @param {{n: number, kind: string, what: string}} data */
function showQuestion(data) {
  const place = find('#asked');
  if (!place || find(`.question[data-n="${data.n}"]`)) return;
  const box = make('form', { class: 'question', 'data-form': 'answer', 'data-n': String(data.n) });
  if (data.kind === 'ask') {
    box.append(make('p', {}, data.what), make('label', { for: `a${data.n}` }, 'Your answer'),
      make('div', { class: 'row' }, make('input', { name: 'answer', id: `a${data.n}`, autocomplete: 'off' }), make('button', { type: 'submit' }, 'Answer')));
  } else if (data.kind === 'plan') {
    const text = /** @type {HTMLTextAreaElement} */ (make('textarea', { name: 'answer', id: `a${data.n}`, rows: String(Math.min(24, data.what.split('\n').length + 1)), maxlength: '20000', spellcheck: 'false' }));
    text.value = data.what;
    const stop = make('button', { type: 'button' }, 'Stop');
    stop.addEventListener('click', () => { request('POST', `${api()}/answer`, { n: data.n, answer: false }).catch((error) => showError(null, error)); });
    box.append(make('label', { for: `a${data.n}` }, 'The plan'),
      make('p', { class: 'meta' }, 'Edit it as you like: a line with “-” is a search, a line with “##” the heading of a section. Nothing has been searched yet.'),
      text, make('div', { class: 'row' }, make('button', { type: 'submit' }, 'Start'), stop));
  } else {
    box.append(make('p', {}, `The agent wants to ${data.what}.`));
    const row = make('div', { class: 'row' });
    for (const [words, answer] of /** @type {[string, boolean | string][]} */ ([['Yes', true], ['No', false], ['Yes, everything on this site', 'site']])) {
      const button = make('button', { type: 'button' }, words);
      button.addEventListener('click', () => { request('POST', `${api()}/answer`, { n: data.n, answer }).catch((error) => showError(null, error)); });
      row.append(button);
    }
    box.append(row);
    if (/browser window/.test(data.what)) void takePicture();
  }
  place.append(box);
  episode += 1;
  showLive(true);
  /** @type {HTMLElement | null} */ (box.querySelector('input, textarea, button'))?.focus();
}

/** @param {any} seen */
function showPicture(seen) {
  const figure = /** @type {HTMLElement | null} */ (find('#sight figure'));
  if (!figure) return;
  if (seen.error) { announce(seen.error); return; }
  const image = /** @type {HTMLImageElement} */ (find('img', figure));
  image.src = `data:${seen.kind};base64,${seen.picture}`;
  image.dataset.width = String(seen.width);
  const caption = find('figcaption', figure);
  if (caption) caption.textContent = seen.url;
  figure.hidden = false;
}

let followTimer = 0;

/** Show the page once it has settled, if following is on and a page is open. */
function followPage() {
  window.clearTimeout(followTimer);
  if (find('#follow:checked') && !find('#live[hidden]')) followTimer = window.setTimeout(() => { takePicture(true).catch(() => {}); }, 300);
}

async function takePicture(quietly = false) {
  const refs = /** @type {HTMLInputElement | null} */ (find('#refs'))?.checked ? '?refs=true' : '';
  const seen = await request('GET', `${api()}/look${refs}`);
  if (!(quietly && seen.error)) showPicture(seen);
}

/** @param {Record<string, unknown>} what */
async function actOnPage(what) { showPicture(await request('POST', `${api()}/act`, what)); }

find('.picture')?.addEventListener('click', (event) => {
  const image = /** @type {HTMLImageElement} */ (find('.picture img'));
  const box = image.getBoundingClientRect();
  const scale = Number(image.dataset.width) / box.width;
  const at = /** @type {MouseEvent} */ (event);
  actOnPage({ kind: 'click', x: Math.max(0, (at.clientX - box.left) * scale), y: Math.max(0, (at.clientY - box.top) * scale) }).catch((error) => showError(null, error));
});
find('.picture')?.addEventListener('keydown', (event) => {
  const { key } = /** @type {KeyboardEvent} */ (event);
  if (key === 'Tab' || key === 'Escape') return; // keyboard users must be able to leave
  event.preventDefault();
  actOnPage(key.length === 1 ? { kind: 'text', text: key } : { kind: 'keys', text: key }).catch((error) => showError(null, error));
});

/** Offer a report's sections to be researched again, except those that are rewritten each time. */
function offerSections() {
  const form = /** @type {HTMLElement | null} */ (find('[data-form=section]'));
  const list = form && find('select', form);
  if (!form || !list) return;
  const frame = ['Summary', 'What is contested', 'What is not known'];
  const headings = findAll('#report .answer h2').map((one) => one.textContent || '').filter((words) => !frame.includes(words));
  list.replaceChildren(...headings.map((words) => make('option', {}, words)));
  form.hidden = headings.length < 2;
}

let episode = 0; // the stream of a resumed run also contains its earlier end

/** @param {boolean} live whether to show the run in progress or its answer */
function showLive(live) {
  for (const css of ['#live', '#after']) { const part = /** @type {HTMLElement | null} */ (find(css)); if (part) part.hidden = (css === '#live') !== live; }
}

function watchRun() {
  let told = '';
  const events = new EventSource(`${api()}/events`);
  const clock = window.setInterval(() => {
    const state = find('#state');
    const passed = began ? ` · ${Math.round((Date.now() - began) / 1000)} s` : '';
    if (state) state.replaceChildren(make('span', { class: 'at_work' }, 'running'), ` · ${sources} source${sources === 1 ? '' : 's'}${passed}${usd ? ` · $${usd.toFixed(4)}` : ''}`);
  }, 500);
  events.onmessage = (message) => {
    const event = JSON.parse(message.data);
    eventActions[event.type]?.(event.data, event.place || '', event.at || '');
    if (event.type === 'model.request' && !event.place.startsWith('after')) { episode += 1; showLive(true); }
    if (event.type === 'run.finished') void showReport();
  };
  events.addEventListener('end', () => { events.close(); window.clearInterval(clock); void showReport(); });
  async function showReport() {
    const own = episode;
    const answer = await fetch(`/runs/${run?.dataset.run}/parts`);
    const html = await answer.text();
    if (!answer.ok) return;
    const state = await request('GET', api());
    if (own !== episode) return;
    window.clearInterval(clock);
    if (!html) { if (state.status === 'cut off') location.reload(); return; }
    for (const button of findAll('#after [data-do=resume]')) button.hidden = state.status !== 'partial';
    const report = find('#report');
    if (html !== told && report) { // the run ends after its answer: keep the reader's position
      const href = report.contains(document.activeElement) ? document.activeElement?.getAttribute('href') : null;
      report.innerHTML = html; // generated and escaped by our own server, like the page itself
      if (href) /** @type {HTMLElement | null} */ (find(`[href="${CSS.escape(href)}"]`, report))?.focus();
      told = html;
      offerSections();
      const badge = find('.status', report)?.classList;
      announce(badge?.contains('failed') ? 'The run failed' : badge?.contains('not_found') ? 'No answer was found' : 'The answer is ready');
    }
    showLive(false);
  }
}

if (run && run.dataset.status === 'running') {
  watchRun();
  request('GET', api()).then((state) => state.asked.forEach(showQuestion)).catch((error) => showError(null, error));
} else if (run) {
  offerSections();
  const live = run.dataset.status === 'cut off';
  for (const button of findAll('#live [data-do]')) button.hidden = button.dataset.do === 'stop' ? live : !live;
  if (live) for (const part of findAll('.hint, #sight')) part.hidden = true;
}

function fillZones() {
  for (const field of findAll('[data-zone]')) /** @type {HTMLInputElement} */ (field).value ||= Intl.DateTimeFormat().resolvedOptions().timeZone || '';
}
fillZones();
localiseTimes();

// ---- the graph of memories ------------------------------------------------------------------

const canvas = /** @type {HTMLElement | null} */ (find('.canvas'));

/** @param {string} tag @param {Record<string, string | number>} attributes */
function svgElement(tag, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** Place linked nodes near each other with springs and repulsion, in a fixed number of rounds and without randomness. @param {any[]} nodes @param {any[]} links */
function layOut(nodes, links) {
  const at = new Map(nodes.map((node, n) => [node.id, { x: Math.cos(n * 2.4) * 18 * Math.sqrt(n + 1), y: Math.sin(n * 2.4) * 18 * Math.sqrt(n + 1) }]));
  const spots = [...at.values()];
  for (let round = 0; round < 160; round += 1) {
    const heat = 6 * (1 - round / 160);
    const push = spots.map(() => ({ x: 0, y: 0 }));
    for (let i = 0; i < spots.length; i += 1) for (let j = i + 1; j < spots.length; j += 1) {
      const x = spots[i].x - spots[j].x; const y = spots[i].y - spots[j].y;
      const force = 900 / (x * x + y * y + 1);
      push[i].x += x * force / 30; push[i].y += y * force / 30; push[j].x -= x * force / 30; push[j].y -= y * force / 30;
    }
    for (const link of links) {
      const a = at.get(link.one); const b = at.get(link.other);
      if (!a || !b) continue;
      const i = spots.indexOf(a); const j = spots.indexOf(b);
      const pull = 0.04 * (0.3 + link.strength);
      push[i].x += (b.x - a.x) * pull; push[i].y += (b.y - a.y) * pull; push[j].x += (a.x - b.x) * pull; push[j].y += (a.y - b.y) * pull;
    }
    spots.forEach((spot, n) => {
      const length = Math.hypot(push[n].x, push[n].y) || 1;
      spot.x += push[n].x / length * Math.min(heat, length) - spot.x * 0.004;
      spot.y += push[n].y / length * Math.min(heat, length) - spot.y * 0.004;
    });
  }
  return at;
}

/** @param {HTMLElement} place */
async function drawGraph(place) {
  const { memories, links } = await request('GET', '/api/memory/graph');
  const section = /** @type {HTMLElement | null} */ (find('#graph'));
  if (!memories.length) { if (section) section.hidden = true; return; }
  const at = layOut(memories, links);
  const svg = svgElement('svg', { 'aria-hidden': 'false' });
  for (const link of links) {
    const a = at.get(link.one); const b = at.get(link.other);
    if (a && b) svg.append(svgElement('line', { x1: a.x, y1: a.y, x2: b.x, y2: b.y, 'stroke-width': 0.5 + 2 * link.strength }));
  }
  for (const one of memories) {
    const { x, y } = /** @type {{x: number, y: number}} */ (at.get(one.id));
    const group = svgElement('g', { tabindex: 0, role: 'img', 'aria-label': `${one.kind}: ${one.text.slice(0, 120)}` });
    if (!one.trusted) group.setAttribute('class', 'weak');
    const label = svgElement('text', { x: x + 8, y: y + 3 });
    label.textContent = one.text.length > 28 ? `${one.text.slice(0, 28).replace(/\s+\S*$/, '')}…` : one.text;
    group.append(svgElement('circle', { cx: x, cy: y, r: 5 }), label);
    const describe = () => { const said = find('#node'); if (said) said.textContent = `${one.kind}: ${one.text}`; };
    group.addEventListener('click', describe);
    group.addEventListener('focus', describe);
    svg.append(group);
  }
  const spots = [...at.values()];
  const left = Math.min(...spots.map((spot) => spot.x)) - 30; const right = Math.max(...spots.map((spot) => spot.x)) + 150;
  const top = Math.min(...spots.map((spot) => spot.y)) - 30; const bottom = Math.max(...spots.map((spot) => spot.y)) + 30;
  const w = Math.max(right - left, (bottom - top) / 0.6, 240);
  const view = { x: (left + right - w) / 2, y: (top + bottom - w * 0.6) / 2, w };
  const show = () => svg.setAttribute('viewBox', `${view.x} ${view.y} ${view.w} ${view.w * 0.6}`);
  /** @param {number} factor */
  const zoom = (factor) => { const w = Math.min(4000, Math.max(60, view.w * factor)); view.x += (view.w - w) / 2; view.y += (view.w - w) * 0.3; view.w = w; show(); };
  place.addEventListener('wheel', (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.15 : 0.87); }, { passive: false });
  place.addEventListener('keydown', (event) => {
    const by = view.w / 10;
    /** @type {Record<string, () => void>} */
    const keys = { ArrowLeft: () => { view.x -= by; }, ArrowRight: () => { view.x += by; }, ArrowUp: () => { view.y -= by; }, ArrowDown: () => { view.y += by; }, '+': () => zoom(0.8), '-': () => zoom(1.25) };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); show(); }
  });
  /** @type {{x: number, y: number} | null} */
  let held = null;
  place.addEventListener('pointerdown', (event) => { held = { x: event.clientX, y: event.clientY }; });
  place.addEventListener('pointermove', (event) => {
    if (!held) return;
    const scale = view.w / place.clientWidth;
    view.x -= (event.clientX - held.x) * scale; view.y -= (event.clientY - held.y) * scale;
    held = { x: event.clientX, y: event.clientY };
    show();
  });
  for (const name of ['pointerup', 'pointerleave']) place.addEventListener(name, () => { held = null; });
  show();
  place.replaceChildren(svg);
}

if (canvas) drawGraph(canvas).catch((error) => showError(null, error));
