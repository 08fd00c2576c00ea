// SPDX-License-Identifier: MIT
// Shows the traces of a job as small charts that have one scale. A chart has the bytes of a card's
// leading layer, by category. A click chooses the trace for the views below.

const RANK_WIDTH = 150, RANK_HEIGHT = 54;

function hasRank({ trace }) {
  return trace.rank !== null && trace.rank !== undefined;
}

function traceName(one) {
  return hasRank(one) ? 'rank ' + one.trace.rank : one.trace.path.replace(/^.*\//, '');
}

// Counts the traces of each group that are not drawn: {path and device of the group's first drawn
// trace: count}.
function likeDrawn({ job, traces }) {
  const drawn = new Set(traces.map((one) => one.trace.path)), found = new Map();
  for (const group of job?.groups || []) {
    const rows = job.peaks.filter((row) => group.lowest_peak_bytes <= row.peak_bytes && row.peak_bytes <= group.peak_bytes);
    const first = rows.find((row) => drawn.has(row.trace));
    if (first) found.set(first.trace + ' ' + first.device, new Set(rows.map((row) => row.trace).filter((path) => !drawn.has(path))).size);
  }
  return found;
}

// One chart per card of each trace: {trace, layer: its number, series, text}.
function rankCharts(job) {
  const like = likeDrawn(job);
  return job.traces.flatMap((one, trace) => {
    const layers = one.series ? one.series.layers : [];
    const leading = leadingLayers(layers);
    return leading.map((layer) => {
      const alike = like.get(one.trace.path + ' ' + layer.device);
      return {
        trace, layer: layers.indexOf(layer), series: one.series, peak_bytes: layer.peak_bytes,
        text: traceName(one) + (leading.length > 1 ? ' device ' + layer.device : '') + (alike ? ' and ' + plural(alike, 'other') + ' like it' : ''),
      };
    });
  });
}

// The highest point of each pixel column, so that no peak is lost.
function columnPoints(live, width) {
  const found = [];
  for (let x = 0; x < width; x++) {
    const from = Math.floor(x * live.length / width), to = Math.max(Math.floor((x + 1) * live.length / width), from + 1);
    let best = from;
    for (let i = from; i < to; i++) if (live[i] > live[best]) best = i;
    found.push(best);
  }
  return found;
}

function paintRank(canvas, { series, layer }, highest) {
  const context = canvasContext(canvas, RANK_HEIGHT), { points, categories } = series.layers[layer];
  const numbers = new Map(series.categories.map((row, number) => [row.category, number]));
  columnPoints(points.live_bytes, RANK_WIDTH).forEach((point, x) => {
    let y = RANK_HEIGHT;
    for (const group of categories) {
      const height = RANK_HEIGHT * group.bytes[point] / highest;
      context.fillStyle = colourOfNumber(numbers.get(group.category));
      context.fillRect(x, y - height, 1, height);
      y -= height;
    }
  });
}

class Ranks {
  constructor(job, choose) {
    this.charts = job.traces ? rankCharts(job) : [];
    this.isNeeded = this.charts.length > 1;
    byId('ranks').hidden = !this.isNeeded;
    byId('ranks-title').textContent = (job.traces?.every(hasRank) ? 'Ranks' : 'Traces') + ' beside each other';
    this.buttons = this.charts.map((chart) => element('button', { type: 'button', class: 'rank', onclick: () => choose(chart) },
      element('canvas', { 'aria-hidden': 'true' }), element('span', {}, chart.text), element('span', {}, bytesText(chart.peak_bytes))));
    replaceChildren('rank-charts', ...this.buttons);
    this.leftOut = job.job && job.traces && job.traces.length < job.job.traces ?
      job.traces.length + ' of ' + job.job.traces + ' traces are drawn; --every-trace draws all of them.' : '';
    replaceChildren('ranks-left-out', this.leftOut);
  }

  draw() {
    if (!this.isNeeded) return;
    const highest = Math.max(...this.charts.map((chart) => chart.peak_bytes), 1);
    this.charts.forEach((chart, i) => paintRank(this.buttons[i].firstChild, chart, highest));
  }

  // The trace with the highest peak.
  highest() {
    return this.charts.reduce((most, chart) => (chart.peak_bytes > most.peak_bytes ? chart : most), { trace: 0, peak_bytes: 0 }).trace;
  }

  press({ trace, layer }) {
    this.charts.forEach((chart, i) => this.buttons[i].setAttribute('aria-pressed', String(chart.trace === trace && chart.layer === layer)));
  }

  asText() {
    return this.isNeeded ? this.charts.map((chart) => bytesText(chart.peak_bytes).padStart(13) + '  ' + chart.text).concat(this.leftOut || []) : [];
  }
}
