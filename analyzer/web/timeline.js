// SPDX-License-Identifier: MIT
// Live bytes over time, stacked by category, phase, line or layer, with what the driver had handed out, the
// card's size, phases, steps and failures. A click chooses the moment of all views.

const AXES = [['event', 'events'], ['time', 'time'], ['step', 'steps']];
const STACKED_BY = [['category', 'category'], ['phase', 'phase of birth'], ['line', 'line'], ['layer', 'layer']];
const AXIS_KEYS = { time: 'time_ns', event: 'seq', step: 'step' };

// Groups that people call the same are one.
function joinEqual(groups, nameOf) {
  const rows = new Map();
  for (const group of groups) {
    const name = nameOf(group), sum = rows.get(name);
    rows.set(name, sum ? sum.map((bytes, i) => bytes + group.bytes[i]) : group.bytes);
  }
  return [...rows].map(([name, bytes]) => ({ name, bytes }));
}

// [{name, bytes}] whose sum at each point is what was live.
function stackedGroups(course, layer, by) {
  switch (by) {
    case 'phase':
      return joinEqual(layer.phases_of_birth, (group) => (group.is_rest ? 'other phases' : group.phase === null ? '(outside any)' : group.phase));
    case 'line':
      return joinEqual(layer.lines, (group) => course.siteText(group.stack));
    case 'layer':
      return [{ name: course.layerName(layer), bytes: layer.points.live_bytes }];
    default:
      return layer.categories.map((group) => {
        const number = course.categoryNumbers.get(group.category);
        return { name: course.categories[number].title, colour: colourOfNumber(number), bytes: group.bytes };
      });
  }
}

// Which points are drawn: on the axis of steps the highest of each.
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

class Timeline {
  constructor(choose) {
    this.box = byId('chart');
    this.choose = choose;
    this.now = element('div', { class: 'now' });
    this.box.addEventListener('keydown', (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (move === undefined) return;
      event.preventDefault();
      this.choose(this.snapshot + move);
    });
  }

  // Everything but the moment changed.
  draw(course, layer, by, axis, total) {
    Object.assign(this, { course, layer, axis, total });
    const key = AXIS_KEYS[axis], points = layer.points;
    const groups = stackedGroups(course, layer, by).filter((group) => Math.max(...group.bytes) > 0);
    const scale = axis === 'time' ? 1e-9 : 1;
    const rows = chosenPoints(points, axis).map((i) => [points[key][i] * scale, ...groups.map((group) => group.bytes[i])]);
    this.driver = layer.layer === 'driver' ? null :
      course.layers.find((other) => other.layer === 'driver' && other.device === layer.device);
    const colours = groups.map((group) => group.colour || (/^other /.test(group.name) ? REST_COLOUR : colourOfText(group.name)));
    const highest = Math.max(layer.peak_bytes, this.driver ? this.driver.peak_bytes : 0);
    const showsTotal = total && total < 3 * highest;
    this.scale = scale;
    if (this.chart) this.chart.destroy();
    this.chart = null;
    this.chart = new Dygraph(this.box, rows, {
      labels: [AXES.find(([name]) => name === axis)[1], ...groups.map((group, i) => group.name + '\u200b'.repeat(i))],
      stackedGraph: true, stepPlot: axis !== 'step', fillAlpha: 0.75, strokeWidth: 0.5, colors: colours,
      valueRange: [0, Math.max(highest, showsTotal ? total : 0) * 1.04 || 1], legend: 'never', animatedZooms: false,
      drawGrid: true, gridLineColor: style('--line'), axisLineColor: style('--line'), highlightCircleSize: 0,
      axes: {
        y: { axisLabelFormatter: (value) => bytesText(Math.round(value)), axisLabelWidth: 78, ticker: bytesTicker },
        x: { axisLabelFormatter: (value) => (axis === 'time' ? durationText(value * 1e9).replace(/\.0+ /, ' ') : String(Math.round(value))), axisLabelWidth: 80 },
      },
      underlayCallback: (context, area, chart) => this.drawBehind(context, area, chart, showsTotal ? total : 0),
      drawCallback: () => this.placeNow(),
      clickCallback: (event, x) => this.choose(this.snapshotAt(x)),
      highlightCallback: (event, x, _, row) => showHint(event, this.pointText(rows[row], groups)),
      unhighlightCallback: () => showHint(null, ''),
    });
    this.box.append(this.now);
    this.box.setAttribute('aria-label', 'Live bytes of the ' + course.layerName(layer) + ' over ' + axis +
      ', at most ' + bytesText(layer.peak_bytes) + '. Left and right arrows choose the moment.');
    replaceChildren('chart-legend', ...groups.map((group, i) => legendEntry(colours[i], group.name)),
      ...(this.driver ? [legendEntry(style('--ink'), 'line: handed out by the driver')] : []),
      ...(showsTotal ? [legendEntry(style('--alarm'), 'line: the card, ' + bytesText(total))] : []));
  }

  pointText(row, groups) {
    const held = groups.map((group, i) => [group.name, row[i + 1]]).filter(([, bytes]) => bytes > 0)
      .sort((a, b) => b[1] - a[1]);
    const sum = held.reduce((total, [, bytes]) => total + bytes, 0);
    const at = this.axis === 'time' ? durationText(row[0] * 1e9) : AXES.find(([name]) => name === this.axis)[1].slice(0, -1) + ' ' + row[0];
    return at + ': ' + bytesText(sum) + '\n' + held.slice(0, 8).map(([name, bytes]) => bytesText(bytes) + '  ' + name).join('\n');
  }

  // The snapshot nearest to a place on the axis; of equally near ones the one where the layer held most.
  snapshotAt(x) {
    if (this.axis !== 'step') return this.course.nearestSnapshot(AXIS_KEYS[this.axis], x / this.scale);
    const points = this.layer.points, found = chosenPoints(points, 'step');
    const nearest = found.reduce((best, i) => (Math.abs(points.step[i] - x) < Math.abs(points.step[best] - x) ? i : best));
    return this.course.nearestSnapshot('seq', points.seq[nearest]);
  }

  // Where a moment lies on the axis.
  placeOf(time, seq) {
    if (this.axis === 'time') return time * this.scale;
    if (this.axis === 'event') return seq;
    const points = this.layer.points;
    let found = 0;
    for (let i = 0; i < points.seq.length; i++) if (points.seq[i] <= seq && points.step[i] !== null) found = i;
    return points.step[found];
  }

  drawBehind(context, area, chart, total) {
    context.save();
    this.drawPhases(context, area, chart);
    if (total) drawLevel(context, area, chart.toDomYCoord(total), style('--alarm'));
    if (this.driver && this.axis !== 'step') this.drawDriver(context, chart);
    for (const failure of this.course.failures) {
      const x = chart.toDomXCoord(this.placeOf(failure.time_ns, failure.seq));
      context.fillStyle = style('--alarm');
      context.fillRect(x - 1, area.y, 2, area.h);
      context.fillText('OOM', x + 3, area.y + 10);
    }
    context.restore();
  }

  // A band along the bottom: the phase at each point.
  drawPhases(context, area, chart) {
    const points = this.layer.points, key = AXIS_KEYS[this.axis];
    if (this.axis === 'step') return;
    for (let i = 0; i < points.seq.length; i++) {
      if (points.phase[i] === null) continue;
      const from = chart.toDomXCoord(points[key][i] * this.scale);
      const to = i + 1 < points.seq.length ? chart.toDomXCoord(points[key][i + 1] * this.scale) : area.x + area.w;
      context.fillStyle = colourOfText(this.course.phases[points.phase[i]].phase);
      context.fillRect(from, area.y + area.h - 6, Math.max(to - from, 1), 6);
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
    context.lineTo(chart.toDomXCoord(last * this.scale), y);
    context.stroke();
  }

  showMoment(snapshot) {
    this.snapshot = snapshot;
    this.placeNow();
  }

  placeNow() {
    if (!this.chart || this.snapshot === undefined) return;
    const { time_ns: times, seq } = this.course.snapshots, area = this.chart.getArea();
    const x = this.chart.toDomXCoord(this.placeOf(times[this.snapshot], seq[this.snapshot]));
    this.now.hidden = x < area.x || x > area.x + area.w;
    this.now.style.left = x + 'px';
    this.now.style.height = area.h + 'px';
  }
}

// Ticks at round powers of two.
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
  const made = element('li', {}, element('i'), text);
  made.firstChild.style.background = colour;
  return made;
}
