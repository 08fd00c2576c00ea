// SPDX-License-Identifier: MIT
// Shows the rest of the document. An object becomes a list of terms, and a list of rows becomes a
// sortable table. This works for any document.

const TABLE_ROWS = 20;
// Keys that another view shows, or that only programs read.
const SHOWN_ELSEWHERE = new Set(['schema', 'answer', 'verdict', 'more', 'next', 'series', 'stack_id', 'change_tree']);
// Keys whose values are codes for programs, as PARENT.KEY. Another key has the same fact in words.
const CODES = new Set(['terms.owner', 'terms.name', 'sum.term', 'remedies.remedy']);

function isTable(value) {
  return Array.isArray(value) && value.length > 0 && typeof value[0] === 'object';
}

function isScalar(value) {
  return value === null || typeof value !== 'object';
}

// The keys of a row or object that are shown, in their order.
function scalarKeys(parent, object) {
  return Object.keys(object).filter((key) => !SHOWN_ELSEWHERE.has(key) && !CODES.has(parent + '.' + key) && isScalar(object[key]));
}

// True if the value gets a heading of its own. Frames do not, because they are the call stack of
// their row.
function isPart([key, value]) {
  return !SHOWN_ELSEWHERE.has(key) && key !== 'frames' && !isScalar(value) && (!Array.isArray(value) || value.length > 0);
}

// The heading of each column. If two would be equal, the second is named by its key.
function headingsOf(list, keys) {
  const headings = new Map();
  for (const key of keys) {
    const text = labelText(list, key);
    headings.set(key, [...headings.values()].includes(text) ? keyText(key) : text);
  }
  return headings;
}

// A table of [{key: value}]. onRow is optional: it makes the element that a click on a row shows.
function makeTable(list, rows, onRow) {
  const keys = scalarKeys(list, rows[0]);
  const headings = headingsOf(list, keys);
  let sortKey = null, isUp = false, isWhole = false;
  const box = element('div', { class: 'scroll' });
  const isNumber = (key) => rows.some((row) => typeof row[key] === 'number');

  function sorted() {
    if (!sortKey) return rows;
    const order = (a, b) => (isNumber(sortKey) ? (a[sortKey] ?? -Infinity) - (b[sortKey] ?? -Infinity) :
      String(a[sortKey] ?? '').localeCompare(String(b[sortKey] ?? '')));
    return [...rows].sort((a, b) => (isUp ? order(a, b) : order(b, a)));
  }

  function heading(key) {
    const direction = sortKey !== key ? 'none' : isUp ? 'ascending' : 'descending';
    return element('th', { scope: 'col', class: isNumber(key) ? 'number' : null, 'aria-sort': direction },
      element('button', {
        type: 'button',
        onclick: () => { isUp = sortKey === key ? !isUp : !isNumber(key); sortKey = key; draw(); },
      }, headings.get(key) + (direction === 'none' ? '' : isUp ? ' ▲' : ' ▼')));
  }

  function line(row) {
    const cells = keys.map((key) => element('td', { class: isNumber(key) ? 'number' : null }, valueText(key, row[key])));
    const made = element('tr', {}, ...cells);
    const shown = onRow && onRow(row);
    if (shown) cells[cells.length - 1].append(shown);
    return made;
  }

  // Draws the table again. The pressed button is made again, so the keyboard's focus moves to the
  // new one.
  function draw() {
    const focused = [...box.querySelectorAll('th button')].indexOf(document.activeElement);
    const shown = isWhole ? sorted() : sorted().slice(0, TABLE_ROWS);
    box.replaceChildren(element('table', {}, element('thead', {}, element('tr', {}, ...keys.map(heading))),
      element('tbody', {}, ...shown.map(line))));
    if (rows.length > shown.length)
      box.append(element('button', { type: 'button', onclick: () => { isWhole = true; draw(); } },
        'show all ' + rows.length + ' rows'));
    if (focused >= 0) box.querySelectorAll('th button')[focused].focus();
  }
  draw();
  return box;
}

// The frames of a row's call stack, from the row itself or from the series; null: unknown.
function stackDetails(series, row) {
  const number = series ? series.stackNumbers.get(row.stack_id) : undefined;
  if (number === undefined && !(row.frames && row.frames.length)) return null;
  const details = element('details', {}, element('summary', {}, 'call stack'));
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1)
      details.append(element('ol', {}, ...(row.frames || series.framesOf(number).reverse()).map((frame) =>
        element('li', {}, frame.function + (frame.file ? '  ' + frame.file + (frame.line ? ':' + frame.line : '') : '')))));
  });
  return details;
}

function describeObject(name, object) {
  const keys = scalarKeys(name, object), headings = headingsOf(name, keys);
  return element('dl', {}, ...keys.flatMap((key) =>
    [element('dt', {}, headings.get(key)), element('dd', {}, valueText(name === 'categories' ? key + '_bytes' : key, object[key]))]));
}

// Rows that contain lists or objects become sections. Other rows become lines of a table.
function describeList(name, rows, series) {
  if (!rows.some((row) => Object.entries(row).some(isPart))) return [makeTable(name, rows, (row) => stackDetails(series, row))];
  return rows.slice(0, TABLE_ROWS).map((row) => element('div', {}, describeObject(name, row), ...describeParts(name, row, series)));
}

// Builds the content below a heading only when it is opened.
function describePart(parent, key, value, series) {
  const details = element('details', {}, element('summary', {},
    labelText(parent, key) + (Array.isArray(value) ? ' (' + value.length + ')' : '')));
  details.addEventListener('toggle', () => {
    if (!details.open || details.childElementCount > 1) return;
    if (isTable(value)) details.append(...describeList(key, value, series));
    else if (Array.isArray(value)) details.append(element('ul', {}, ...value.map((text) => element('li', {}, String(text)))));
    else details.append(describeObject(key, value), ...describeParts(key, value, series));
  });
  return details;
}

function describeParts(name, object, series) {
  return Object.entries(object).filter(isPart).map(([key, value]) => describePart(name, key, value, series));
}
