// SPDX-License-Identifier: MIT
// Draws live bytes over time, stacked by category, phase, line or layer, with the driver's memory, the
// card's size, phases, steps and failures. A click chooses the moment of all views.

const AXES = [['event', 'events'], ['time', 'time'], ['step', 'steps']];
const STACKED_BY = [['category', 'category'], ['phase', 'phase of birth'], ['line', 'line'], ['layer', 'layer']];
const AXIS_KEYS = { time: 'time_ns', event: 'seq', step: 'step' };
const LEGEND_PHASES = 6, LEGEND_LETTERS = 100, STEP_PIXELS = 4, STEP_TEXT_PIXELS = 60;
// From top to bottom: marks, lines, phases, texts of the axis.
const MARKS_PIXELS = 16, PHASES_PIXELS = 9, AXIS_PIXELS = 20, LABEL_PIXELS = 3;

// Sums the groups that have the same name.
function joinEqual(groups, nameOf) {
  const rows = new Map();
  for (const group of groups) {
    const name = nameOf(group), sum = rows.get(name);
    rows.set(name, sum ? sum.map((bytes, i) => bytes + group.bytes[i]) : group.bytes);
  }
  return [...rows].map(([name, bytes]) => ({ name, bytes }));
}

// [{name, bytes}]: the groups add up to the live bytes at each point.
function stackedGroups(series, layer, by) {
  switch (by) {
    case 'phase':
      return joinEqual(layer.phases_of_birth, (group) => (group.is_rest ? 'other phases' : group.phase === null ? '(outside any)' : group.phase));
    case 'line':
      return joinEqual(layer.lines, (group) => series.siteText(group.stack));
    case 'layer':
      return [{ name: series.layerName(layer), bytes: layer.points.live_bytes }];
    default:
      return layer.categories.map((group) => {
        const number = series.categoryNumbers.get(group.category);
        return { name: series.categories[number].title, colour: colourOfNumber(number), bytes: group.bytes };
      });
  }
}

// Returns the points that are drawn: all points, or, on the axis of steps, the highest point of each step.
function chosenPoints(points, axis) {
  const all = points.seq.map((_, i) => i);
  if (axis !== 'step') return all;
  const highest = new Map();
  for (const i of all) {
    const step = points.step[i];
    if (step !== null && (!highest.has(step) || points.live_bytes[i] > points.live_bytes[highest.get(step)])) highest.set(step, i);
  }
  return [...highest.values()];
}

function hasSteps(layer) {
  return new Set(layer.points.step.filter((step) => step !== null)).size > 1;
}

// The axes that the layer has data for.
function axesOf(layer) {
  const { time_ns: times } = layer.points;
  return AXES.filter(([axis]) => (axis === 'step' ? hasSteps(layer) : axis !== 'time' || (times.length && times[0] !== null)));
}

// The most live bytes between two places of the axis, including those live at its beginning.
function highestWithin({ points }, key, [low, high]) {
  const places = points[key];
  let most = 0;
  for (let i = 0; i < places.length && (places[i] === null || places[i] <= high); i++)
    if (i + 1 >= places.length || places[i] >= low || places[i + 1] > low) most = Math.max(most, points.live_bytes[i]);
  return most;
}

// [{colour, floor, top}]: the bytes at each chosen point between which a group is drawn. The first group lies on top.
function stackedBands(groups, colours, chosen) {
  let floor = chosen.map(() => 0);
  return groups.map(({ bytes }, n) => ({ colour: colours[n], bytes })).reverse().map(({ colour, bytes }) => {
    const top = floor.map((below, row) => below + bytes[chosen[row]]), band = { colour, floor, top };
    floor = top;
    return band;
  });
}

// The first point of each step except the first step.
function stepBegins(points) {
  return points.step.flatMap((step, i) => (i && step !== null && step !== points.step[i - 1] ? [i] : []));
}

class Timeline {
  constructor(choose, onZoom) {
    this.box = byId('chart');
    this.choose = choose;
    this.onZoom = onZoom;
    this.now = element('div', { class: 'now' });
    this.box.addEventListener('keydown', (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key], factor = { '+': 0.5, '-': 2 }[event.key];
      if (move === undefined && factor === undefined) return;
      event.preventDefault();
      if (move) this.choose(this.snapshot + move);
      else this.zoomBy(factor);
    });
  }

  // The zoom as "120..480.5", in units of the axis; '': the whole axis.
  zoomText() {
    const shown = this.shown();
    return shown ? shown.map((place) => Number(place.toPrecision(9))).join('..') : '';
  }

  // Parses such a text and cuts it to the axis; null: the whole axis.
  static zoomOf(text, first, last) {
    const [low, high] = text.split('..').map(Number), from = Math.max(low, first), to = Math.min(high, last);
    return from < to ? [from, to] : null;
  }

  // The visible part of the axis; null: the whole axis.
  shown() {
    return this.chart && this.chart.isZoomed('x') ? this.chart.xAxisRange() : null;
  }

  // Zooms around the moment, but not beyond the ends of the axis.
  zoomBy(factor) {
    const [low, high] = this.chart.xAxisRange(), [first, last] = this.chart.xAxisExtremes();
    const wide = (high - low) * factor, from = Math.max(first, Math.min(this.nowPlace() - wide / 2, last - wide));
    this.zoomTo(wide < last - first ? [from, from + wide] : null);
  }

  // Sets the height in the same call, because another call would draw the chart twice. null: the
  // whole axis.
  zoomTo(part) {
    this.chart.updateOptions({ dateWindow: part, valueRange: this.rangeFor(part || this.chart.xAxisExtremes()) });
  }

  // Call it after every change, except a change of the moment only.
  draw(series, layer, { by, axis, zoom }, total) {
    Object.assign(this, { series, layer, axis, total, zoom });
    const key = AXIS_KEYS[axis], points = layer.points;
    const groups = stackedGroups(series, layer, by).filter((group) => Math.max(...group.bytes) > 0);
    const scale = axis === 'time' ? 1e-9 : 1;
    const chosen = chosenPoints(points, axis);
    const rows = chosen.map((i) => [points[key][i] * scale, points.live_bytes[i]]);
    const end = axis === 'step' ? 0 : series.snapshots[key][series.snapshotCount - 1] * scale;
    this.places = rows.map(([place]) => place);
    if (end > rows[rows.length - 1][0]) rows.push([end, null]); // extends the axis to the end
    this.driver = layer.layer === 'driver' ? null :
      series.layers.find((other) => other.layer === 'driver' && other.device === layer.device);
    this.phaseNames = [...new Set(series.phases.map((row) => row.phase))];
    const colours = groups.map((group, i) => group.colour || (/^other /.test(group.name) ? REST_COLOUR :
      by === 'phase' && this.phaseNames.includes(group.name) ? this.phaseColour(group.name) : colourOfNumber(i)));
    const whole = [rows[0][0], rows[rows.length - 1][0]], dateWindow = Timeline.zoomOf(zoom, ...whole);
    this.end = end;
    this.scale = scale;
    this.bands = stackedBands(groups, colours, chosen);
    if (this.chart) this.chart.destroy();
    this.chart = null;
    this.chart = new Dygraph(this.box, rows, {
      labels: [AXES.find(([name]) => name === axis)[1], 'live bytes'],
      plotter: ({ drawingContext, plotArea, dygraph }) => this.drawStack(drawingContext, plotArea, dygraph),
      valueRange: this.rangeFor(dateWindow || whole), legend: 'never', animatedZooms: false, dateWindow,
      drawGrid: true, gridLineColor: style('--line'), axisLineColor: style('--line'), highlightCircleSize: 0,
      axes: {
        y: { axisLabelFormatter: (value) => bytesText(Math.round(value)), axisLabelWidth: 78, ticker: bytesTicker },
        x: { axisLabelFormatter: (value) => (axis === 'time' ? durationText(Math.round(value * 1e9)).replace(/\.0+ /, ' ') : String(Math.round(value))), axisLabelWidth: 80,
          ticker: (...asked) => Dygraph.numericTicks(...asked).filter(({ v }) => axis === 'time' || Number.isInteger(v)) },
      },
      underlayCallback: (context, area, chart) => this.drawBehind(context, area, chart),
      drawCallback: () => { this.placeNow(); this.fitHeight(); this.noteZoom(); },
      clickCallback: (event, x) => this.choose(this.snapshotAt(x), this.placeText(x)),
      highlightCallback: (event, x, _, row) => showHint(event, row < chosen.length ? this.pointText(chosen[row], groups) : ''),
      unhighlightCallback: () => showHint(null, ''),
    });
    this.box.append(this.now);
    this.box.setAttribute('aria-label', 'Live bytes of the ' + series.layerName(layer) + ' over ' + AXES.find(([name]) => name === axis)[1] +
      ', at most ' + bytesText(layer.peak_bytes) + '. Left and right arrows choose the moment, plus and minus zoom.');
    this.showLegend = () => {
      this.legendHasTotal = this.showsTotal;
      replaceChildren('chart-legend', ...groups.map((group, n) => legendEntry(colours[n], group.name)),
        ...(this.driver && axis !== 'step' ? [legendEntry(style('--ink'), 'line: handed out by the driver')] : []),
        ...(this.showsTotal ? [legendEntry(style('--alarm'), 'line: the card, ' + bytesText(total))] : []),
        ...(axis === 'step' ? [] : this.phasesShown().map((phase) => legendEntry(this.phaseColour(phase), 'below: ' + phase))));
    };
    this.showLegend();
  }

  // The range of bytes for a part of the axis: room for the phases below and the marks above. It
  // contains the card's size unless that is three times the highest bytes or more.
  rangeFor(part) {
    const key = AXIS_KEYS[this.axis], places = part.map((place) => place / this.scale), isStep = this.axis === 'step';
    const highest = Math.max(highestWithin(this.layer, key, places), this.driver && !isStep ? highestWithin(this.driver, key, places) : 0);
    this.showsTotal = !!this.total && this.total < 3 * highest;
    const top = Math.max(highest, this.showsTotal ? this.total : 0) || 1;
    const below = isStep ? 0 : PHASES_PIXELS, perPixel = top / (this.box.clientHeight - AXIS_PIXELS - MARKS_PIXELS - below);
    return [-below * perPixel, top + MARKS_PIXELS * perPixel];
  }

  // Fits the height after every zoom and move, because the library knows neither phases nor marks.
  fitHeight() {
    if (!this.chart) return;
    const [low, high] = this.rangeFor(this.chart.xAxisRange()), now = this.chart.yAxisRange();
    if (this.legendHasTotal !== this.showsTotal) this.showLegend();
    if (now[0] !== low || now[1] !== high) this.chart.updateOptions({ valueRange: [low, high] });
  }

  // Phases take colours from the end of the palette, because groups take them from its beginning.
  phaseColour(phase) {
    return colourOfNumber(PALETTE.length - 1 - this.phaseNames.indexOf(phase) % PALETTE.length);
  }

  // The phases with the widest bands.
  phasesShown() {
    const counts = new Map();
    for (const phase of this.layer.points.phase) if (phase !== null) counts.set(phase, (counts.get(phase) || 0) + 1);
    const names = [...counts].sort((a, b) => b[1] - a[1]).map(([phase]) => this.series.phases[phase].phase);
    return [...new Set(names)].slice(0, LEGEND_PHASES); // two sources of phases may use one name
  }

  pointText(i, groups) {
    const points = this.layer.points, phase = points.phase[i], step = points.step[i];
    const held = groups.map((group) => [group.name, group.bytes[i]]).filter(([, bytes]) => bytes > 0)
      .sort((a, b) => b[1] - a[1]);
    const place = [points.time_ns[i] === null ? '' : durationText(points.time_ns[i]), 'event ' + points.seq[i], step === null ? '' : 'step ' + step,
      phase === null ? '' : this.series.phases[phase].phase].filter(Boolean).join(', ');
    return bytesText(points.live_bytes[i]) + '\n' + place + '\n' + held.slice(0, 8).map(([name, bytes]) => bytesText(bytes) + '  ' + name).join('\n');
  }

  // Returns the snapshot nearest to a place on the axis. If several are equally near, returns the one
  // with the most live bytes.
  snapshotAt(x) {
    if (this.axis !== 'step') return this.series.nearestSnapshot(AXIS_KEYS[this.axis], x / this.scale);
    const points = this.layer.points, found = chosenPoints(points, 'step');
    const nearest = found.reduce((best, i) => (Math.abs(points.step[i] - x) < Math.abs(points.step[best] - x) ? i : best));
    return this.series.nearestSnapshot('seq', points.seq[nearest]);
  }

  placeText(x) {
    return this.axis === 'time' ? durationText(Math.round(x / this.scale)) : this.axis + ' ' + Math.round(x);
  }

  // The place of a moment on the axis.
  placeOf(time, seq) {
    if (this.axis === 'time') return time * this.scale;
    if (this.axis === 'event') return seq;
    const points = this.layer.points;
    let found = 0;
    for (let i = 0; i < points.seq.length; i++) if (points.seq[i] <= seq && points.step[i] !== null) found = i;
    return points.step[found];
  }

  // The corners [pixel, row] of the top of a band, of which only the visible ones are kept. Live bytes stay until the
  // next point; the highest points of steps are joined by lines.
  corners(area, chart) {
    const last = this.places.length - 1, isStep = this.axis === 'step';
    const pixels = [...this.places, Math.max(this.end, this.places[last])].map((place) => chart.toDomXCoord(place));
    return this.places.flatMap((_, row) => pixels[row + 1] < area.x || pixels[Math.max(0, row - isStep)] > area.x + area.w ? []
      : isStep ? [[pixels[row], row]] : [[pixels[row], row], [pixels[row + 1], row]]);
  }

  // The groups are one series for the library, because it would make an object of each point of each group.
  drawStack(context, area, chart) {
    const corners = this.corners(area, chart), [low, high] = chart.yAxisRange();
    const pixelOf = (bytes) => area.y + (high - bytes) * area.h / (high - low);
    const paths = this.bands.map(({ colour, floor, top }) => {
      const path = new Path2D();
      for (const [x, row] of corners) path.lineTo(x, pixelOf(top[row]));
      for (let i = corners.length; i--;) path.lineTo(corners[i][0], pixelOf(floor[corners[i][1]]));
      return [colour, path];
    });
    context.save();
    context.globalAlpha = 0.75;
    for (const [colour, path] of paths) {
      context.fillStyle = colour;
      context.fill(path);
    }
    context.globalAlpha = 1;
    context.lineWidth = 0.5;
    for (const [colour, path] of paths.reverse()) { // a short rise below other groups stays visible
      context.strokeStyle = colour;
      context.stroke(path);
    }
    context.restore();
  }

  drawBehind(context, area, chart) {
    context.save();
    this.drawPhases(context, area, chart);
    if (this.showsTotal) drawLevel(context, area, chart.toDomYCoord(this.total), style('--alarm'));
    if (this.driver && this.axis !== 'step') this.drawDriver(context, chart);
    this.drawSteps(context, area, chart, this.drawFailures(context, area, chart));
    context.restore();
  }

  // Draws a line for each failure. Failures that are closer together than a name is wide share one name, with their
  // number. Returns [from, to] of each name.
  drawFailures(context, area, chart) {
    const own = this.series.failures.filter(({ device }) => device === null || device === this.layer.device), names = [];
    const places = own.map((one) => chart.toDomXCoord(this.placeOf(one.time_ns, one.seq))).sort((a, b) => a - b);
    const apart = context.measureText('OOM × 100').width + LABEL_PIXELS;
    context.fillStyle = style('--alarm');
    for (let i = 0, end; i < places.length; i = end) {
      for (end = i; end < places.length && places[end] - places[i] < apart; end++) context.fillRect(places[end] - 1, area.y, 2, area.h);
      const text = end - i > 1 ? 'OOM × ' + (end - i) : 'OOM', width = context.measureText(text).width;
      const right = places[i] + LABEL_PIXELS, from = right + width > area.x + area.w ? places[i] - LABEL_PIXELS - width : right;
      context.fillText(text, from, area.y + 10);
      names.push([from, from + width]);
    }
    return names;
  }

  // Draws a band at the bottom that shows the phase of each point.
  drawPhases(context, area, chart) {
    const points = this.layer.points, key = AXIS_KEYS[this.axis], count = points.seq.length;
    if (this.axis === 'step') return;
    for (let i = 0, end; i < count; i = end) {
      for (end = i + 1; end < count && points.phase[end] === points.phase[i];) end++;
      if (points.phase[i] === null) continue;
      const from = chart.toDomXCoord(points[key][i] * this.scale);
      const to = end < count ? chart.toDomXCoord(points[key][end] * this.scale) : area.x + area.w;
      context.fillStyle = this.phaseColour(this.series.phases[points.phase[i]].phase);
      context.fillRect(from, area.y + area.h - PHASES_PIXELS + 2, Math.max(to - from, 1), PHASES_PIXELS - 2);
    }
  }

  // Draws a mark at the top where a step begins. Leaves out marks that would be too close, and
  // numbers that would be too close or would cover a failure's name.
  drawSteps(context, area, chart, names) {
    const points = this.layer.points, key = AXIS_KEYS[this.axis];
    if (this.axis === 'step') return;
    context.fillStyle = style('--faint');
    let last = -Infinity, lastText = -Infinity;
    for (const i of stepBegins(points)) {
      const x = chart.toDomXCoord(points[key][i] * this.scale);
      if (x - last < STEP_PIXELS || x < area.x || x > area.x + area.w) continue;
      context.fillRect(x, area.y, 1, 7);
      last = x;
      const text = String(points.step[i]), place = [x + 2, x + 2 + context.measureText(text).width];
      if (x - lastText < STEP_TEXT_PIXELS || names.some((name) => overlap(name, place))) continue;
      context.fillText(text, x + 2, area.y + 10);
      lastText = x;
    }
  }

  drawDriver(context, chart) {
    const points = this.driver.points, key = AXIS_KEYS[this.axis];
    context.strokeStyle = style('--ink');
    context.lineWidth = 1.5;
    context.beginPath();
    let y = chart.toDomYCoord(0);
    for (let i = 0; i < points.seq.length; i++) {
      const x = chart.toDomXCoord(points[key][i] * this.scale);
      context.lineTo(x, y);
      y = chart.toDomYCoord(points.live_bytes[i]);
      context.lineTo(x, y);
    }
    const last = this.layer.points[key][this.layer.points.seq.length - 1];
    context.lineTo(chart.toDomXCoord(Math.max(last * this.scale, this.end)), y);
    context.stroke();
  }

  // Reports the zoom after every kind of zooming or moving.
  noteZoom() {
    if (!this.chart || this.zoomText() === this.zoom) return;
    this.zoom = this.zoomText();
    this.onZoom(this.zoom);
  }

  showMoment(snapshot) {
    this.snapshot = snapshot;
    this.placeNow();
  }

  nowPlace() {
    const { time_ns: times, seq } = this.series.snapshots;
    return this.placeOf(times[this.snapshot], seq[this.snapshot]);
  }

  placeNow() {
    if (!this.chart || this.snapshot === undefined) return;
    const area = this.chart.getArea(), x = this.chart.toDomXCoord(this.nowPlace());
    this.now.hidden = x < area.x || x > area.x + area.w;
    this.now.style.left = x + 'px';
    this.now.style.height = area.h + 'px';
  }
}

function overlap([from, to], [low, high]) {
  return from < high && low < to;
}

// Ticks at multiples of a power of two.
function bytesTicker(low, high) {
  let width = 1;
  while (high / width > 6) width *= 2;
  const ticks = [];
  for (let value = 0; value <= high; value += width) ticks.push({ v: value, label: bytesText(value).replace(/\.00 /, ' ') });
  return ticks;
}

function drawLevel(context, area, y, colour) {
  context.strokeStyle = colour;
  context.setLineDash([6, 4]);
  context.beginPath();
  context.moveTo(area.x, y);
  context.lineTo(area.x + area.w, y);
  context.stroke();
  context.setLineDash([]);
}

function legendEntry(colour, text) {
  const shown = text.length > LEGEND_LETTERS ? text.slice(0, LEGEND_LETTERS) + '…' : text;
  const made = element('li', { title: shown === text ? null : visibleText(text) }, element('i'), shown);
  made.firstChild.style.background = colour;
  return made;
}
