// SPDX-License-Identifier: MIT
// Compares measured with estimated bytes: two bars for each figure that both trace and model have.
// All bars of a table have one scale.

// This text must be the same as the commands print.
function categoryText(device, category) {
  const known = page.series && page.series.categories.find((row) => row.category === category);
  return category === 'parameters' && device.buffers_are_parameters ? 'Parameters and buffers' : known ? known.title : keyText(category);
}

const PAIR_TABLES = [['Peak and reserved', (device) => [{ ...device.peak, name: 'peak' }, { ...device.reserved, name: 'reserved' }]],
  ['By category, each side at its own peak', (device) => device.categories.map((row) => ({ ...row, name: categoryText(device, row.category) }))],
  ['Highest in each phase', (device) => device.phases.map((row) => ({ ...row, name: row.phase }))]];

function isCompared(device) {
  return !!device.peak && device.peak.estimated_bytes !== undefined;
}

function pairRows(device) {
  return PAIR_TABLES.map(([title, rowsOf]) =>
    [title, rowsOf(device).filter((row) => row.measured_bytes || row.estimated_bytes)]).filter(([, rows]) => rows.length);
}

function pairBar(kind, bytes, most) {
  const bar = element('div', { class: kind });
  bar.style.width = 100 * (bytes || 0) / most + '%';
  return bar;
}

function pairTable(title, rows) {
  const most = Math.max(...rows.flatMap((row) => [row.measured_bytes || 0, row.estimated_bytes || 0]));
  const head = ['', 'Measured', 'Estimated', 'Difference'].map((text, i) => element('th', { scope: 'col', class: i ? 'number' : null }, text));
  // The bars are below the figures and as wide as the figures, so that they fit any window.
  const lines = rows.flatMap((row) => [element('tr', { class: 'paired' }, element('th', { scope: 'row' }, row.name),
    ...['measured_bytes', 'estimated_bytes', 'difference_bytes'].map((key) => element('td', { class: 'number' }, valueText(key, row[key])))),
  element('tr', { 'aria-hidden': 'true' }, element('td', { class: 'pair', colspan: head.length },
    pairBar('measured', row.measured_bytes, most), pairBar('estimated', row.estimated_bytes, most)))]);
  return element('div', { class: 'scroll' }, element('h3', {}, title),
    element('table', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...lines)));
}

function showEstimate(devices) {
  const compared = devices.filter(isCompared);
  byId('estimated').hidden = !compared.length;
  replaceChildren('estimate', ...compared.flatMap((device) => pairRows(device).map(([title, rows]) =>
    pairTable(compared.length > 1 ? 'Device ' + device.device + ': ' + title : title, rows))));
}

function estimateText(devices) {
  return devices.filter(isCompared).flatMap((device) => pairRows(device).flatMap(([title, rows]) =>
    [title, ...rows.map((row) => '  ' + row.name + ': measured ' + bytesText(row.measured_bytes) + ', estimated ' + bytesText(row.estimated_bytes))]));
}
