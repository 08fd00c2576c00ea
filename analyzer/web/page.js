// SPDX-License-Identifier: MIT
// The page's state: trace, layer, moment and mode. The state is kept in the URL's hash, so that a
// link shows what its sender saw.

const MODES = [['live', 'live'], ['grown', 'grown since'], ['kept', 'still live at the end'], ['temporary', 'gone by the end']];
const HASH_MS = 100;
const DEFAULTS = { trace: null, layer: null, moment: null, since: null, mode: null, by: 'category', axis: 'event', zoom: '', inverted: 0, all: 0, pinning: 0, find: '' };

// Answers that are shown first.
const ALARM = /^(Out of memory|Leak: |The limit is broken|\d+ of \d+ limits are broken)/;

function isAlarming({ answer }) {
  return ALARM.test((answer || [''])[0]);
}

// The labels of the roles that have one (verdict.c).
const ROLE_LABELS = { why: 'Why: ', who: 'Who: ', do: 'Do: ' };

function labelledText({ role, text }) {
  return (ROLE_LABELS[role] || '') + text;
}

// Keeps the first word and the end of a long command, because a launcher's options in between say
// little.
function shortCommand(command) {
  const tail = command && command.length > 120 ? command.indexOf(' ', command.length - 120) : -1;
  return tail < 0 ? command : command.slice(0, command.indexOf(' ')) + ' …' + command.slice(tail);
}

// Restores columns that the file stores as differences of adjacent values (json.h).
function unpacked(value) {
  if (Array.isArray(value) && (value.length === 0 || isScalar(value[0]))) return value;
  if ('' in value) {
    let sum = 0;
    return value[''].map((difference) => (sum += difference));
  }
  for (const key of Object.keys(value)) if (!isScalar(value[key])) value[key] = unpacked(value[key]);
  return value;
}

// {document, labels}. The document is the JSON of `--json --series`, but frames are only in the
// series, not repeated in each row. labels are the commands' texts for keys.
async function readDocument() {
  const packed = Uint8Array.from(atob(byId('document').textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return unpacked(await new Response(stream).json());
}

const page = {
  state: { ...DEFAULTS },

  async start() {
    const { document: own, labels } = await readDocument();
    this.document = own;
    Object.assign(LABELS, labels);
    this.traces = this.document.traces || [this.document];
    this.readHash();
    this.timeline = new Timeline((snapshot, clicked) => this.set({ moment: Math.max(0, Math.min(this.series.snapshotCount - 1, snapshot)) }, clicked),
      (zoom) => { this.state.zoom = zoom; this.writeHash(); this.showControls(); });
    this.ranks = new Ranks(this.document, ({ trace, layer }) => this.set({ trace, layer, moment: null }));
    this.fleet = new Fleet(this.document);
    this.icicle = new Icicle((text) => { byId('icicle-path').textContent = text; });
    this.map = new MemoryMap();
    byId('copy-text').addEventListener('click', () => this.copy(this.asText()));
    window.addEventListener('hashchange', () => { this.readHash(); this.openTrace(); });
    window.addEventListener('resize', () => { this.ranks.draw(); this.fleet.draw(); this.draw(); });
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { this.ranks.draw(); this.fleet.draw(); this.openTrace(); });
    this.ranks.draw(); this.fleet.draw();
    this.openTrace();
    document.body.dataset.drawn = 'yes';
  },

  // --- state and hash ---

  readHash() {
    const given = new URLSearchParams(location.hash.slice(1));
    this.state = { ...DEFAULTS };
    for (const [key, value] of given) {
      if (!(key in DEFAULTS)) continue;
      const isText = typeof DEFAULTS[key] === 'string' || key === 'mode';
      if (isText || /^\d{1,9}$/.test(value)) this.state[key] = isText ? value : Number(value);
    }
  },

  // Waits before it writes, because browsers refuse many writes per second, for example while a key
  // is held down.
  writeHash() {
    clearTimeout(this.unwritten);
    this.unwritten = setTimeout(() => {
      const changed = Object.entries(this.state).filter(([key, value]) => value !== DEFAULTS[key] && value !== null);
      history.replaceState(null, '', '#' + new URLSearchParams(changed));
      this.unwritten = 0;
    }, HASH_MS);
  },

  // Changes the state. A zoom belongs to one axis, so another axis resets it. clicked: the clicked
  // place of the chart, in words.
  set(changes, clicked) {
    const needsAll = 'trace' in changes;
    if ('moment' in changes) this.clicked = clicked;
    if (needsAll || 'axis' in changes) this.state.zoom = '';
    Object.assign(this.state, changes);
    this.writeHash();
    if (needsAll) this.openTrace();
    else this.draw(Object.keys(changes));
  },

  // --- traces, layers, moments ---

  openTrace() {
    const { state } = this;
    this.clicked = undefined;
    state.trace = Math.min(state.trace ?? this.firstTrace(), this.traces.length - 1);
    this.trace = this.traces[state.trace];
    const series = this.trace.series;
    this.series = series && series.layers.length ? new Series(series) : null;
    if (this.series) {
      state.layer = Math.min(state.layer ?? this.firstLayer(), this.series.layers.length - 1);
      const last = this.series.snapshotCount - 1;
      const opening = this.opening();
      if (!this.modes().some(([mode]) => mode === state.mode)) state.mode = opening.mode;
      if (state.moment === null || state.moment > last) state.moment = opening.moment;
      if (state.since === null || state.since > last) state.since = this.afterFirstStep();
      if (!axesOf(this.layer()).some(([axis]) => axis === state.axis)) state.axis = 'event';
    }
    for (const id of ['memory', 'sites']) byId(id).hidden = !this.series;
    byId('addresses').hidden = !this.series || !this.layer().maps.length;
    this.showHeading();
    showLedger(this.trace.ledger);
    showEstimate(this.devices());
    this.showTables();
    this.draw();
  },

  // The trace to open: a failed one, because its failure is the reason to look.
  firstTrace() {
    const failed = this.traces.findIndex((one) => this.isFailed(one));
    if (failed >= 0) return failed;
    const alarming = this.traces.findIndex(isAlarming);
    return alarming < 0 ? this.ranks.highest() : alarming;
  },

  // True if this trace has the failure that the job's answer begins with.
  isFailed({ trace }) {
    return !!trace && trace.path === this.document.job?.failed_trace;
  },

  // The layer to open: the first one of the device of the last failure, else one that leaks, else the
  // first one of the device with the highest peak.
  firstLayer() {
    const { layers } = this.series, failed = this.failed().pop(), leading = leadingLayers(layers);
    const leaking = layers.findIndex((layer) => this.isLeaking(layer));
    if (!failed && leaking >= 0) return leaking;
    const highest = leading.reduce((most, layer) => (layer.peak_bytes > most.peak_bytes ? layer : most));
    return layers.indexOf(leading.find(({ device }) => device === failed?.device) || highest);
  },

  layer() {
    return this.series.layers[this.state.layer];
  },

  // The comparison of the layer with the baseline, or null.
  change() {
    const layer = this.layer(), device = this.device(layer.device), tree = device && device.change_tree;
    return tree && tree.layer === layer.layer && tree.pool === layer.pool ? new Change(tree, device.sites || device.grown) : null;
  },

  modes() {
    return this.change() ? [...CHANGE_MODES, ...MODES] : MODES;
  },

  modeText(mode) {
    const [, text] = this.modes().find(([one]) => one === mode) || MODES[0];
    return mode === 'grown' ? text + ' ' + this.series.momentText(this.state.since) : text;
  },

  isOfChange() {
    return CHANGE_MODES.some(([mode]) => mode === this.state.mode);
  },

  isLeaking(layer = this.layer()) {
    const isIts = (row) => row.layer === layer.layer && row.pool === layer.pool;
    return (this.trace.leaks || []).some((row) => row.device === layer.device && row.growth.some((one) => isIts(one) && one.verdict === 'leak'));
  },

  // Returns the first view. It is the first of these that the trace has: the change at the peaks, the
  // last failure, the growth of a leak, the peak.
  opening() {
    const peak = this.series.peakOf(this.layer()), failed = this.failed();
    if (this.change()) return { mode: 'changed', moment: peak };
    if (failed.length) return { mode: 'live', moment: failed[failed.length - 1].snapshot };
    return this.isLeaking() ? { mode: 'grown', moment: this.lastOfLeak() } : { mode: 'live', moment: peak };
  },

  // The last moment of a leak: the end of the trace, or, if the program frees most of it before its
  // end, the beginning of the last step.
  lastOfLeak() {
    const end = this.series.snapshotCount - 1, { points, sites } = this.layer(), begin = stepBegins(points).pop(), since = this.afterFirstStep();
    const last = begin === undefined ? end : this.series.nearestSnapshot('seq', points.seq[begin]);
    const grownAt = (moment) => sites.reduce((sum, site) => sum + Math.max(site.bytes[moment] - site.bytes[since], 0), 0);
    return 2 * grownAt(end) < grownAt(last) ? last : end;
  },

  failed() {
    return this.series.failures.filter((failure) => failure.snapshot !== null);
  },

  // The snapshot after the first step. At that time the program has made everything that it makes once.
  afterFirstStep() {
    const { points } = this.layer(), [begin] = stepBegins(points);
    return begin === undefined ? 0 : this.series.nearestSnapshot('seq', points.seq[begin]);
  },

  devices() {
    return this.trace.devices || [];
  },

  device(number) {
    return this.devices().find((device) => device.device === number);
  },

  // --- the heading ---

  // The peak of each card that no answer mentions.
  peaks() {
    const { series } = this, layers = series ? series.layers : [];
    const answers = [...(this.trace.answer || []), ...(this.trace.more || []).map(({ text }) => text)];
    return leadingLayers(layers).flatMap((layer) => {
      const peak = bytesText(layer.peak_bytes), total = this.device(layer.device)?.total_bytes;
      const driver = layers.find((other) => other !== layer && other.layer === 'driver' && other.device === layer.device);
      return answers.some((text) => text.startsWith('Peak ' + peak) || text.includes('peak at ' + peak)) ? [] :
        'Peak: ' + peak + (total ? ' of ' + bytesText(total) : '') + ' live in the ' + series.layerName(layer) +
        (driver ? ', ' + bytesText(driver.peak_bytes) + ' handed out by the driver' : '') + '.';
    });
  },

  // The sentences of the job come before those of the trace, unless those of the trace are alarming. If the job's are
  // about the failure of this trace, they contain most of its sentences.
  verdict() {
    const own = this.trace.verdict || [];
    if (this.trace === this.document) return own;
    const job = this.document.verdict || [], name = (one) => this.ofTrace(one);
    if (this.isFailed(this.trace)) return [...job, ...own.slice(1).filter(({ text }) => !job.some((one) => one.text === text)).map(name)];
    return isAlarming(this.trace) ? [...own.map(name), ...job] : [...job, ...own.map(name)];
  },

  // A finding that says which trace it is about.
  ofTrace(one) {
    return ROLE_LABELS[one.role] ? one : { ...one, text: traceName(this.trace) + ': ' + one.text };
  },

  // The sentences below the verdict, without labels, because they do not continue it. `peaks` says what no answer mentions.
  moreSentences() {
    const plain = ({ more }) => (more || []).map((one) => (one.role === 'do' ? one : { ...one, role: 'what' }));
    const own = [...plain(this.trace), ...this.peaks().map((text) => ({ role: 'what', text }))];
    if (this.trace === this.document) return own;
    const job = plain(this.document);
    return [...job, ...own.filter(({ text }) => !job.some((one) => one.text === text)).map((one) => this.ofTrace(one))];
  },

  showHeading() {
    const verdict = this.verdict(), title = byId('answer'), { trace } = this.trace, next = (!isAlarming(this.trace) && this.document.next) || this.trace.next;
    title.textContent = visibleText(verdict.length ? verdict[0].text : 'gpumemtrace');
    title.classList.toggle('alarm', isAlarming(this.trace) || isAlarming(this.document) || !!this.document.job?.failed_trace);
    document.title = verdict.length ? verdict[0].text : 'gpumemtrace';
    const sentence = ({ role, text }) => element('p', {}, ROLE_LABELS[role] ? element('b', {}, ROLE_LABELS[role]) : '', text);
    replaceChildren('more-answers', ...verdict.slice(1).map(sentence));
    replaceChildren('more-sentences', ...this.moreSentences().map(sentence));
    replaceChildren('warnings', ...(this.trace.warnings || []).map((text) => element('p', {}, text)));
    byId('action').hidden = !next;
    byId('next').textContent = next || '';
    byId('copy-next').onclick = () => this.copy(next);
    byId('heading').textContent = trace ? [trace.path, shortCommand(trace.command), durationText(trace.duration_ns),
      plural(trace.events, 'event')].filter(Boolean).join('  ·  ') : '';
    replaceChildren('choices', ...(this.traces.length > 1 ? [this.traceChoice()] : []));
  },

  traceChoice() {
    const made = element('select', { onchange: (event) => this.set({ trace: Number(event.target.value), layer: null, moment: null }) },
      ...this.traces.map((one, i) => element('option', { value: i, selected: i === this.state.trace }, traceName(one))));
    return element('label', {}, 'Trace ', made);
  },

  // --- controls ---

  showControls() {
    const { state, series } = this, layer = this.layer();
    const layers = series.layers.map((one, i) => [i, series.layerName(one)]);
    replaceControls('chart-controls',
      layers.length > 1 ? choiceButtons('of', layers, state.layer, (value) => this.set({ layer: value })) : '',
      choiceButtons('by', STACKED_BY, state.by, (by) => this.set({ by })),
      choiceButtons('over', axesOf(layer), state.axis, (axis) => this.set({ axis })));
    const shown = this.timeline.shown();
    replaceControls('moments', choiceButtons('moment', this.namedMoments(), state.moment, (moment) => this.set({ moment })),
      element('button', { type: 'button', 'aria-label': 'earlier', onclick: () => this.timeline.choose(state.moment - 1) }, '◀'),
      element('button', { type: 'button', 'aria-label': 'later', onclick: () => this.timeline.choose(state.moment + 1) }, '▶'),
      shown ? element('button', { type: 'button', onclick: () => this.growWithin(shown) }, 'growth in the part shown') : '',
      shown ? element('button', { type: 'button', onclick: () => this.timeline.zoomTo(null) }, 'show all') : '');
    const modes = this.modes().map(([mode]) => [mode, this.modeText(mode)]);
    const search = element('input', { type: 'search', placeholder: 'find', 'aria-label': 'find in calls', value: state.find });
    search.addEventListener('input', () => { state.find = search.value; this.writeHash(); this.icicle.searchFor(search.value); });
    replaceControls('icicle-controls', choiceButtons('', modes, state.mode, (mode) => this.set({ mode })),
      element('button', { type: 'button', onclick: () => this.set({ since: state.moment }) }, 'grow from this moment'),
      this.toggle('inverted', 'inverted'), this.toggle('all', 'all frames'), search);
    replaceControls('map-controls', layer.segments.length ? this.toggle('pinning', 'light up blocks that pin segments') : '');
  },

  // Shows the growth from the first to the last moment of the zoomed part.
  growWithin([low, high]) {
    this.set({ mode: 'grown', since: this.timeline.snapshotAt(low), moment: this.timeline.snapshotAt(high) });
  },

  toggle(key, text) {
    return element('button', { type: 'button', 'aria-pressed': String(!!this.state[key]), onclick: () => this.set({ [key]: this.state[key] ? 0 : 1 }) }, text);
  },

  namedMoments() {
    const named = [[this.series.peakOf(this.layer()), 'peak']];
    for (const failure of this.failed().slice(-4)) named.push([failure.snapshot, 'OOM ' + failure.number]);
    if (this.isLeaking() && this.lastOfLeak() < this.series.snapshotCount - 1) named.push([this.lastOfLeak(), 'last step']);
    named.push([this.series.snapshotCount - 1, 'end']);
    return named;
  },

  // --- views ---

  // Draws the views that depend on the changed names of the state; without names, all views.
  draw(changed) {
    this.ranks.press(this.state);
    if (!this.series) return;
    const { state, series } = this, layer = this.layer(), device = this.device(layer.device);
    const concerns = (...keys) => !changed || changed.some((key) => keys.includes(key));
    if (concerns('layer', 'by', 'axis'))
      this.timeline.draw(series, layer, state, device && device.total_bytes);
    this.showControls();
    this.timeline.showMoment(state.moment);
    byId('moment').textContent = this.momentWords(layer);
    if (concerns('layer', 'moment', 'since', 'mode', 'inverted', 'all')) this.drawSites(layer);
    if (layer.maps.length && concerns('layer', 'moment', 'pinning')) this.map.draw(series, layer, state.moment, !!state.pinning);
  },

  // Returns a sentence if the clicked moment was not kept and the nearest one is shown.
  momentWords(layer) {
    const { series, clicked } = this, { moment } = this.state, when = series.momentText(moment), event = 'event ' + series.snapshots.seq[moment];
    return 'At ' + (when === event ? when : when + ', ' + event) + ': ' + bytesText(series.liveAt(layer, moment)) + ' live in the ' + series.layerName(layer) +
      (clicked && clicked !== when && clicked !== event ? ', the moment nearest to ' + clicked : '') +
      ' (moment ' + (moment + 1) + ' of the ' + series.snapshotCount + ' that are kept).';
  },

  // A function that gives a site's bytes under the mode.
  bytesOfSite() {
    const { moment, since, mode } = this.state, last = this.series.snapshotCount - 1;
    const modes = {
      live: (site) => site.bytes[moment],
      grown: (site) => site.bytes[moment] - site.bytes[since],
      kept: (site) => Math.min(site.bytes[moment], site.bytes[last]),
      temporary: (site) => site.bytes[moment] - Math.min(site.bytes[moment], site.bytes[last]),
    };
    return modes[mode] || modes.live;
  },

  // Rows of the table of sites; with a change, the lines to blame for it.
  siteRows() {
    return this.isOfChange() && this.change() ? this.change().siteRows() : this.series.siteRows(this.bytesOfSite(), this.layer());
  },

  drawSites(layer) {
    const { state, series } = this, change = this.isOfChange() ? this.change() : null;
    const calls = change ? change.calls(state.mode) : series.calls(this.bytesOfSite(), layer, state.all);
    this.icicle.search = state.find;
    this.icicle.draw(callTree(series.layerName(layer), calls, state.inverted));
    replaceChildren('icicle-legend', ...(change ? [legendEntry(style('--more'), 'more than before'), legendEntry(style('--less'), 'less'),
      legendEntry(style('--free'), 'as before')] : []), change ? element('li', {}, this.sidesText()) : '');
    const rows = this.siteRows();
    replaceChildren('icicle-table', rows.length ? makeTable(this.device(layer.device)?.grown ? 'grown' : 'sites', rows) : element('p', {}, 'Nothing.'));
  },

  sidesText() {
    const { before_at: before, after_at: after } = this.device(this.layer().device);
    const isPeaks = (before || 'peak') === 'peak' && (after || 'peak') === 'peak';
    return 'The two runs are compared at ' + (isPeaks ? 'their peaks' : before + ' and ' + after) + ', whichever moment is chosen above.';
  },

  showTables() {
    const job = this.document.job ? describeParts('', { job: this.document.job }, null) : [];
    replaceChildren('tables', element('h2', {}, 'All figures'), ...job, ...describeParts(this.document.traces ? 'traces' : '', this.trace, this.series));
  },

  // --- as text ---

  asText() {
    const lines = [...this.verdict().map(labelledText), byId('action').hidden ? '' : 'Next: ' + byId('next').textContent,
      ...this.moreSentences().map(labelledText), ...this.ranks.asText()];
    if (this.series) {
      lines.push('', byId('moment').textContent, byId('sites-title').textContent + ', ' + this.modeText(this.state.mode) + ':');
      for (const row of this.siteRows().slice(0, 20))
        lines.push('  ' + (row.bytes === undefined ? valueText('delta_bytes', row.delta_bytes) : bytesText(row.bytes)).padStart(11) + '  ' + row.site);
      lines.push('', byId('map-words').textContent);
    }
    lines.push(...ledgerText(this.trace.ledger), '', ...estimateText(this.devices()), byId('heading').textContent);
    return lines.join('\n');
  },

  // A page opened from a disk may not use the clipboard. Then the text is shown, to be copied by
  // hand.
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
