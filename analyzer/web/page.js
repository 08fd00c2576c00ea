// SPDX-License-Identifier: MIT
// The page: which trace, layer, moment and mode is shown. All of it lives in the URL's hash, so that a link
// shows what its sender saw.

const MODES = [['live', 'live'], ['grown', 'grown since'], ['kept', 'still live at the end'], ['temporary', 'gone by the end']];
const DEFAULTS = { trace: 0, layer: 0, moment: null, since: 0, mode: 'live', by: 'category', axis: 'event', inverted: 0, all: 0, pinning: 0, find: '' };

// What a launcher puts between the first word and the end says little.
function shortCommand(command) {
  const tail = command && command.length > 120 ? command.indexOf(' ', command.length - 120) : -1;
  return tail < 0 ? command : command.slice(0, command.indexOf(' ')) + ' …' + command.slice(tail);
}

// The JSON that `--json --series` prints, but for the frames of each row: they stand in the series once.
async function readDocument() {
  const packed = Uint8Array.from(atob(byId('document').textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).json();
}

const page = {
  state: { ...DEFAULTS },

  async start() {
    this.document = await readDocument();
    this.traces = this.document.traces || [this.document];
    this.readHash();
    this.timeline = new Timeline((snapshot) => this.set({ moment: Math.max(0, Math.min(this.course.snapshotCount - 1, snapshot)) }));
    this.icicle = new Icicle((text) => { byId('icicle-path').textContent = text; });
    this.map = new MemoryMap();
    byId('copy-text').addEventListener('click', () => this.copy(this.asText()));
    window.addEventListener('hashchange', () => { this.readHash(); this.openTrace(); });
    window.addEventListener('resize', () => this.draw());
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    this.openTrace();
    document.body.dataset.drawn = 'yes';
  },

  // --- state and hash ---

  readHash() {
    const given = new URLSearchParams(location.hash.slice(1));
    this.state = { ...DEFAULTS };
    for (const [key, value] of given) {
      if (!(key in DEFAULTS)) continue;
      const isText = typeof DEFAULTS[key] === 'string';
      if (isText || /^\d{1,9}$/.test(value)) this.state[key] = isText ? value : Number(value);
    }
  },

  writeHash() {
    const changed = Object.entries(this.state).filter(([key, value]) => value !== DEFAULTS[key] && value !== null);
    history.replaceState(null, '', '#' + new URLSearchParams(changed));
  },

  set(changes) {
    const needsAll = 'trace' in changes;
    Object.assign(this.state, changes);
    this.writeHash();
    if (needsAll) this.openTrace();
    else this.draw(Object.keys(changes));
  },

  // --- what is there ---

  openTrace() {
    const { state } = this;
    state.trace = Math.min(state.trace, this.traces.length - 1);
    this.trace = this.traces[state.trace];
    const series = this.trace.series;
    this.course = series && series.layers.length ? new Course(series) : null;
    if (this.course) {
      state.layer = Math.min(state.layer, this.course.layers.length - 1);
      const last = this.course.snapshotCount - 1;
      if (state.moment === null || state.moment > last) state.moment = this.firstMoment();
      state.since = Math.min(state.since, last);
      if (state.axis === 'step' && !hasSteps(this.layer())) state.axis = 'event';
    }
    for (const id of ['memory', 'holders', 'addresses']) byId(id).hidden = !this.course;
    this.showHead();
    this.showLedger();
    this.showTables();
    this.draw();
  },

  layer() {
    return this.course.layers[this.state.layer];
  },

  // What people came for: the failure, else the peak.
  firstMoment() {
    const failed = this.course.failures.filter((failure) => failure.snapshot !== null);
    return failed.length ? failed[failed.length - 1].snapshot : this.course.peakOf(this.course.layers[this.state.layer]);
  },

  device(number) {
    return (this.trace.devices || []).find((device) => device.device === number);
  },

  // --- the head ---

  showHead() {
    const answers = this.trace.answer || [], title = byId('answer'), { trace } = this.trace;
    title.textContent = answers[0] || 'gpumemtrace';
    title.classList.toggle('alarm', /^(Out of memory|A leak|.* leaks)/.test(answers[0] || ''));
    document.title = answers[0] || 'gpumemtrace';
    replaceChildren('more-answers', ...answers.slice(1).map((text) => element('p', {}, text)));
    replaceChildren('warnings', ...(this.trace.warnings || []).map((text) => element('p', {}, text)));
    byId('action').hidden = !this.trace.next;
    byId('next').textContent = this.trace.next || '';
    byId('copy-next').onclick = () => this.copy(this.trace.next);
    byId('heading').textContent = trace ? [trace.path, shortCommand(trace.command), durationText(trace.duration_ns),
      plural(trace.events, 'event')].filter(Boolean).join('  ·  ') : '';
    replaceChildren('choices', ...(this.traces.length > 1 ? [this.traceChoice()] : []));
  },

  traceChoice() {
    const made = element('select', { onchange: (event) => this.set({ trace: Number(event.target.value), layer: 0, moment: null }) },
      ...this.traces.map((one, i) => element('option', { value: i, selected: i === this.state.trace },
        one.trace.rank === null || one.trace.rank === undefined ? one.trace.path : 'rank ' + one.trace.rank)));
    return element('label', {}, 'Trace ', made);
  },

  // --- controls ---

  showControls() {
    const { state, course } = this, layer = this.layer();
    const layers = course.layers.map((one, i) => [i, course.layerName(one)]);
    const axes = hasSteps(layer) ? AXES : AXES.slice(0, 2);
    replaceChildren('chart-controls',
      layers.length > 1 ? choiceButtons('of', layers, state.layer, (value) => this.set({ layer: value })) : '',
      choiceButtons('by', STACKED_BY, state.by, (by) => this.set({ by })),
      choiceButtons('over', axes, state.axis, (axis) => this.set({ axis })));
    replaceChildren('moments', choiceButtons('moment', this.namedMoments(), state.moment, (moment) => this.set({ moment })),
      element('button', { type: 'button', 'aria-label': 'earlier', onclick: () => this.timeline.choose(state.moment - 1) }, '◀'),
      element('button', { type: 'button', 'aria-label': 'later', onclick: () => this.timeline.choose(state.moment + 1) }, '▶'));
    const modes = MODES.map(([mode, text]) => [mode, mode === 'grown' ? text + ' ' + durationText(course.snapshots.time_ns[state.since]) : text]);
    const search = element('input', { type: 'search', placeholder: 'find', 'aria-label': 'find in calls', value: state.find });
    search.addEventListener('input', () => { state.find = search.value; this.writeHash(); this.icicle.searchFor(search.value); });
    replaceChildren('icicle-controls', choiceButtons('', modes, state.mode, (mode) => this.set({ mode })),
      element('button', { type: 'button', onclick: () => this.set({ since: state.moment }) }, 'grow from this moment'),
      this.toggle('inverted', 'inverted'), this.toggle('all', 'all frames'), search);
    replaceChildren('map-controls', layer.segments.length ? this.toggle('pinning', 'light up blocks that pin segments') : '');
  },

  toggle(key, text) {
    return element('button', { type: 'button', 'aria-pressed': String(!!this.state[key]), onclick: () => this.set({ [key]: this.state[key] ? 0 : 1 }) }, text);
  },

  namedMoments() {
    const named = [[this.course.peakOf(this.layer()), 'peak']];
    const failed = this.course.failures.filter((failure) => failure.snapshot !== null);
    for (const failure of failed.slice(-4)) named.push([failure.snapshot, 'OOM ' + failure.number]);
    named.push([this.course.snapshotCount - 1, 'end']);
    return named;
  },

  // --- views ---

  draw(changed) {
    if (!this.course) return;
    const { state, course } = this, layer = this.layer();
    const device = this.device(layer.device);
    this.showControls();
    if (!changed || changed.some((key) => ['layer', 'by', 'axis'].includes(key)))
      this.timeline.draw(course, layer, state.by, state.axis, device && device.total_bytes);
    this.timeline.showMoment(state.moment);
    const time = course.snapshots.time_ns[state.moment], seq = course.snapshots.seq[state.moment];
    byId('moment').textContent = 'At ' + durationText(time) + ', event ' + seq + ': ' +
      bytesText(course.liveAt(layer, state.moment)) + ' live in the ' + course.layerName(layer) +
      ' (snapshot ' + (state.moment + 1) + ' of ' + course.snapshotCount + ').';
    this.drawHolders(layer);
    this.map.draw(course, layer, state.moment, !!state.pinning);
  },

  // Bytes of a site under the mode.
  bytesOfSite() {
    const { moment, since, mode } = this.state, last = this.course.snapshotCount - 1;
    const modes = {
      live: (site) => site.bytes[moment],
      grown: (site) => site.bytes[moment] - site.bytes[since],
      kept: (site) => Math.min(site.bytes[moment], site.bytes[last]),
      temporary: (site) => site.bytes[moment] - Math.min(site.bytes[moment], site.bytes[last]),
    };
    return modes[mode] || modes.live;
  },

  drawHolders(layer) {
    const bytesOf = this.bytesOfSite(), { state, course } = this;
    this.icicle.search = state.find;
    this.icicle.draw(course.tree(bytesOf, layer, { isInverted: !!state.inverted, showsAll: !!state.all }));
    const rows = course.holders(bytesOf, layer);
    replaceChildren('icicle-table', rows.length ? makeTable(rows) : element('p', {}, 'Nothing.'));
  },

  showLedger() {
    const books = (this.trace.ledger || []).filter((book) => book.moments && book.moments.length);
    byId('books').hidden = !books.length;
    replaceChildren('ledger', ...books.flatMap((book) => book.moments.map((moment) => this.ledgerBar(book, moment))));
  },

  ledgerBar(book, moment) {
    const terms = moment.terms.filter((term) => term.bytes > 0).map((term) => ({ ...term, name: keyText(term.owner) + (term.name ? ' ' + term.name : '') }));
    const counted = terms.reduce((sum, term) => sum + term.bytes, 0), whole = Math.max(moment.total_bytes || 0, counted);
    const parts = terms.map((term) => {
      const part = element('span', { title: term.name + ': ' + bytesText(term.bytes) });
      part.style.flexGrow = term.bytes / whole;
      part.style.background = term.owner === 'free' ? style('--free') : colourOfText(term.name);
      return part;
    });
    return element('div', {}, element('h3', {}, 'Device ' + book.device + ', ' + moment.at + ': ' + bytesText(moment.used_bytes) + ' used' +
      (moment.total_bytes ? ' of ' + bytesText(moment.total_bytes) : '')), element('div', { class: 'bar' }, ...parts),
    element('ul', { class: 'legend' }, ...terms.map((term) => legendEntry(term.owner === 'free' ? style('--free') : colourOfText(term.name),
      term.name + ' ' + bytesText(term.bytes) + ' (' + term.source + ')'))));
  },

  showTables() {
    const job = this.document.job ? describeParts({ job: this.document.job }, null) : [];
    replaceChildren('tables', element('h2', {}, 'All figures'), ...job, ...describeParts(this.trace, this.course));
  },

  // --- as text ---

  asText() {
    const lines = [...(this.trace.answer || []), this.trace.next ? 'Next: ' + this.trace.next : ''];
    if (this.course) {
      lines.push('', byId('moment').textContent);
      for (const row of this.course.holders(this.bytesOfSite(), this.layer()).slice(0, 20)) lines.push('  ' + bytesText(row.bytes).padStart(11) + '  ' + row.site);
      lines.push('', byId('map-words').textContent);
    }
    lines.push('', byId('heading').textContent);
    return lines.join('\n');
  },

  // Files that were opened from a disk may not have the clipboard: then the text is shown to be copied.
  copy(text) {
    const done = (words) => { byId('copied').textContent = words; };
    const area = element('textarea', { 'aria-label': 'text to copy', rows: 4, cols: 60 });
    area.value = text;
    document.body.append(area);
    area.select();
    done(document.execCommand('copy') ? 'Copied.' : 'The browser refused to copy.');
    area.remove();
  },
};

page.start().catch((error) => { byId('answer').textContent = 'This page could not be drawn: ' + error.message; throw error; });
