// SPDX-License-Identifier: MIT
// Everything else that the document says: objects as lists of terms, lists of rows as tables that sort.
// It knows the shape of a document and no page.

const TABLE_ROWS = 20;
// Shown by a view of its own, or for machines alone.
const SHOWN_ELSEWHERE = new Set(['schema', 'answer', 'next', 'series', 'stack_id']);

function isTable(value) {
  return Array.isArray(value) && value.length > 0 && typeof value[0] === 'object';
}

function isScalar(value) {
  return value === null || typeof value !== 'object';
}

// A table of rows: [{key: value}]. onRow, if given, makes what a click on a row shows.
function makeTable(rows, columns, onRow) {
  const keys = columns || Object.keys(rows[0]).filter((key) => !SHOWN_ELSEWHERE.has(key) && isScalar(rows[0][key]));
  let sortKey = null, isUp = false, isWhole = false;
  const box = element('div', { class: 'scroll' });
  const isNumber = (key) => rows.some((row) => typeof row[key] === 'number');

  function sorted() {
    if (!sortKey) return rows;
    const order = (a, b) => (isNumber(sortKey) ? (a[sortKey] ?? -Infinity) - (b[sortKey] ?? -Infinity) :
      String(a[sortKey] ?? '').localeCompare(String(b[sortKey] ?? '')));
    return [...rows].sort((a, b) => (isUp ? order(a, b) : order(b, a)));
  }

  function head(key) {
    const direction = sortKey !== key ? 'none' : isUp ? 'ascending' : 'descending';
    return element('th', { scope: 'col', class: isNumber(key) ? 'number' : null, 'aria-sort': direction },
      element('button', {
        type: 'button',
        onclick: () => { isUp = sortKey === key ? !isUp : !isNumber(key); sortKey = key; draw(); },
      }, keyText(key) + (direction === 'none' ? '' : isUp ? ' ▲' : ' ▼')));
  }

  function line(row) {
    const cells = keys.map((key) => element('td', { class: isNumber(key) ? 'number' : null }, valueText(key, row[key])));
    const made = element('tr', {}, ...cells);
    const shown = onRow && onRow(row);
    if (shown) cells[cells.length - 1].append(shown);
    return made;
  }

  function draw() {
    const shown = isWhole ? sorted() : sorted().slice(0, TABLE_ROWS);
    box.replaceChildren(element('table', {}, element('thead', {}, element('tr', {}, ...keys.map(head))),
      element('tbody', {}, ...shown.map(line))));
    if (rows.length > shown.length)
      box.append(element('button', { type: 'button', onclick: () => { isWhole = true; draw(); } },
        'show all ' + rows.length + ' rows'));
  }
  draw();
  return box;
}

// The frames of a row's call stack, where the page has it.
function stackDetails(course, row) {
  const number = course && course.stackNumbers.get(row.stack_id);
  if (number === undefined) return null;
  const details = element('details', {}, element('summary', {}, 'call stack'));
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1)
      details.append(element('ol', {}, ...course.framesOf(number).reverse().map((frame) =>
        element('li', {}, frame.function + (frame.file ? '  ' + frame.file + (frame.line ? ':' + frame.line : '') : '')))));
  });
  return details;
}

function describeObject(object) {
  const terms = Object.entries(object).filter(([key, value]) => !SHOWN_ELSEWHERE.has(key) && isScalar(value));
  return element('dl', {}, ...terms.flatMap(([key, value]) =>
    [element('dt', {}, keyText(key)), element('dd', {}, valueText(key, value))]));
}

// Rows that hold lists or objects are sections, one after the other; other rows are lines of a table.
function describeList(rows, course) {
  const hasParts = rows.some((row) => Object.entries(row).some(([key, value]) =>
    !isScalar(value) && !SHOWN_ELSEWHERE.has(key) && (Array.isArray(value) ? value.length : true)));
  if (!hasParts) return [makeTable(rows, null, (row) => stackDetails(course, row))];
  return rows.slice(0, TABLE_ROWS).map((row) => element('div', {}, describeObject(row), ...describeParts(row, course)));
}

// What is behind a heading is built when it is opened.
function describePart(key, value, course) {
  const details = element('details', {}, element('summary', {},
    keyText(key) + (Array.isArray(value) ? ' (' + value.length + ')' : '')));
  details.addEventListener('toggle', () => {
    if (!details.open || details.childElementCount > 1) return;
    if (isTable(value)) details.append(...describeList(value, course));
    else if (Array.isArray(value)) details.append(element('ul', {}, ...value.map((text) => element('li', {}, String(text)))));
    else details.append(describeObject(value), ...describeParts(value, course));
  });
  return details;
}

function describeParts(object, course) {
  return Object.entries(object).filter(([key, value]) => !SHOWN_ELSEWHERE.has(key) && !isScalar(value) &&
    (Array.isArray(value) ? value.length : true)).map(([key, value]) => describePart(key, value, course));
}
