// SPDX-License-Identifier: MIT
// Shows the ranks of a run in a fleet's database as small charts that have one scale. A chart has the
// bytes of a device's leading layer at its peak, by category.

const FLEET_HEIGHT = 18;

// One chart for each device that had memory: {text, peak_bytes, parts: [{category, bytes}]}.
function fleetCharts({ ranks, categories }) {
  const keyOf = ({ rank, process, device }) => [rank, process, device].join(' ');
  const parts = new Map();
  for (const row of categories) parts.set(keyOf(row), [...(parts.get(keyOf(row)) || []), row]);
  const hasProcesses = ranks.some((row) => row.process > 0), hasDevices = ranks.some((row) => row.device > 0);
  return ranks.filter((row) => row.peak_bytes).map((row) => ({
    text: 'rank ' + row.rank + (hasProcesses ? ' process ' + row.process : '') + (hasDevices ? ' device ' + row.device : ''),
    peak_bytes: row.peak_bytes, parts: parts.get(keyOf(row)) || [],
  }));
}

class Fleet {
  constructor(own) {
    this.charts = own.ranks && own.categories ? fleetCharts(own) : [];
    if (!this.charts.length) return;
    byId('ranks').hidden = false;
    this.items = this.charts.map((chart) => element('span', { class: 'rank' },
      element('canvas', { role: 'img', 'aria-label': chart.parts.map((part) => part.category + ' ' + bytesText(part.bytes)).join(', ') }),
      element('span', {}, chart.text), element('span', {}, bytesText(chart.peak_bytes))));
    replaceChildren('rank-charts', ...this.items);
    this.names = [...new Set(own.categories.map((row) => row.category))].sort();
    replaceChildren('ranks-left-out', ...this.names.map((name, number) =>
      element('span', { class: 'key', style: 'border-left: 1em solid ' + colourOfNumber(number) + '; padding: 0 1em 0 0.3em' }, name)));
  }

  draw() {
    const highest = Math.max(...this.charts.map((chart) => chart.peak_bytes), 1);
    this.charts.forEach((chart, i) => {
      const context = canvasContext(this.items[i].firstChild, FLEET_HEIGHT);
      let x = 0;
      for (const part of chart.parts) {
        const width = RANK_WIDTH * part.bytes / highest;
        context.fillStyle = colourOfNumber(this.names.indexOf(part.category));
        context.fillRect(x, 0, width, FLEET_HEIGHT);
        x += width;
      }
    });
  }
}
