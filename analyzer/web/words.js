// SPDX-License-Identifier: MIT
// Numbers and names as text, elements, and colours.

// Numbers have the same digits as in the commands' text (units.c).
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'], ROUNDS_UP = 1023.995;

// Rounds a tie, such as 222.125, to the even digit, as C does.
function decimalText(value, digits) {
  const [whole, part] = value.toFixed(60).split('.'), kept = digits ? whole + '.' + part.slice(0, digits) : whole;
  return /^50*$/.test(part.slice(digits)) && '02468'.includes(kept.slice(-1)) ? kept : value.toFixed(digits);
}

function bytesText(bytes) {
  if (bytes === null || bytes === undefined) return '-';
  let value = Math.abs(bytes), unit = 0;
  while (value >= ROUNDS_UP && unit < UNITS.length - 1) { value /= 1024; unit++; }
  return (bytes < 0 ? '-' : '') + (unit ? decimalText(value, 2) : value) + ' ' + UNITS[unit];
}

function threeDigits(value) {
  return decimalText(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

function durationText(ns) {
  if (ns === null || ns === undefined) return '-';
  if (ns < 0) return '-' + durationText(-ns);
  if (ns < 1e3) return ns + ' ns';
  if (ns < 999500) return threeDigits(ns / 1e3) + ' us';
  if (ns < 999.5e6) return threeDigits(ns / 1e6) + ' ms';
  if (ns < 59.95e9) return threeDigits(ns / 1e9) + ' s';
  const seconds = Math.floor(ns / 1e9 + 0.5), twoDigits = (count) => String(count).padStart(2, '0');
  if (seconds < 3600) return Math.floor(seconds / 60) + ' min ' + twoDigits(seconds % 60) + ' s';
  return Math.floor(seconds / 3600) + ' h ' + twoDigits(Math.floor(seconds / 60) % 60) + ' min';
}

// The end of a key names the unit of its value, as in the JSON.
const UNIT_OF_KEY = [
  [/^(delta|difference)_bytes$/, (value) => (value > 0 ? '+' : '') + bytesText(value)],
  [/bytes(_|$)|bytes_per_step/, bytesText],
  [/^start_unix_ns$/, (value) => new Date(value / 1e6).toISOString()],
  [/_ns$/, durationText],
  [/^imbalance_ratio$/, (value) => decimalText(value, 2)],
  [/_ratio$/, (value) => decimalText(value * 100, 1) + ' %'],
  [/address$/, (value) => '0x' + value.toString(16)],
];

function valueText(key, value) {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (key === 'category') return value.replace(/_/g, ' ');
  if (typeof value !== 'number') return String(value);
  const unit = UNIT_OF_KEY.find(([pattern]) => pattern.test(key));
  return unit ? unit[1](value) : String(value);
}

// The heading of a key: "live_at_exit_bytes" becomes "Live at exit". "terms" becomes "Owners".
function keyText(key) {
  const words = (key === 'terms' ? 'owners' : key).replace(/_(bytes|ns|ratio)$/, '').replace(/_/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// The commands' texts for keys, as PARENT.KEY; see labels.h.
const LABELS = {};

function labelText(parent, key) {
  const label = LABELS[parent + '.' + key];
  return label ? label.charAt(0).toUpperCase() + label.slice(1) : keyText(key);
}

function plural(count, word) {
  return count + ' ' + word + (count === 1 ? '' : 's');
}

// Shows characters that change the direction of text by their number, as the commands do.
function visibleText(text) {
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (mark) => '\\u{' + mark.charCodeAt(0).toString(16) + '}');
}

// Adds text as text nodes only, because text of a trace must never become HTML.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null).map((child) => (typeof child === 'string' ? visibleText(child) : child)));
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

function replaceChildren(id, ...children) {
  byId(id).replaceChildren(...children);
}

// Does the same as replaceChildren for controls such as buttons, which every change makes again.
// The focused control keeps the keyboard's focus.
function replaceControls(id, ...children) {
  const nameOf = (control) => control.getAttribute('aria-label') || control.textContent;
  const focused = byId(id).contains(document.activeElement) ? nameOf(document.activeElement) : null;
  replaceChildren(id, ...children);
  const again = focused && [...byId(id).querySelectorAll('button, input')].find((control) => nameOf(control) === focused);
  if (again) again.focus();
}

// A row of buttons. One of them is pressed.
function choiceButtons(label, values, current, choose) {
  return element('span', { role: 'group', 'aria-label': label }, element('span', { class: 'faint' }, label),
    ...values.map(([value, text]) => element('button', {
      type: 'button', 'aria-pressed': String(value === current), onclick: () => choose(value),
    }, text)));
}

// Colours that differ in light and dark mode, and for most people who cannot tell red from green.
const PALETTE = ['#4e79a7', '#a0cbe8', '#59a14f', '#b07aa1', '#76b7b2', '#edc948', '#e15759', '#9c755f',
  '#ff9da7', '#f28e2b', '#d37295', '#bab0ac', '#8cd17d', '#b6992d', '#499894', '#d4a6c8'];
const REST_COLOUR = '#8a929b';

function colourOfNumber(number) {
  return PALETTE[number % PALETTE.length];
}

// Gives a text the same colour on every page.
function colourOfText(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return colourOfNumber(hash >>> 0);
}

function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Sets the canvas to this height in CSS pixels, sharp on every screen, and clears it.
function canvasContext(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.style.height = height + 'px';
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function showHint(event, text) {
  const hint = byId('hint');
  hint.hidden = !text;
  if (!text) return;
  hint.textContent = text;
  const left = Math.min(event.clientX + 14, window.innerWidth - hint.offsetWidth - 4);
  const top = event.clientY + 18 + hint.offsetHeight > window.innerHeight ?
    event.clientY - hint.offsetHeight - 8 : event.clientY + 18;
  hint.style.left = Math.max(0, left) + 'px';
  hint.style.top = Math.max(0, top) + 'px';
}
