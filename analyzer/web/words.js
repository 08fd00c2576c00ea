// SPDX-License-Identifier: MIT
// Numbers and names as people read them, elements, and colours. It knows no view.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

function bytesText(bytes) {
  if (bytes === null || bytes === undefined) return '-';
  let value = Math.abs(bytes), unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) { value /= 1024; unit++; }
  return (bytes < 0 ? '-' : '') + (unit ? value.toFixed(2) : value) + ' ' + UNITS[unit];
}

function durationText(ns) {
  if (ns === null || ns === undefined) return '-';
  if (ns < 1e3) return ns + ' ns';
  if (ns < 1e6) return (ns / 1e3).toFixed(1) + ' µs';
  if (ns < 1e9) return (ns / 1e6).toFixed(1) + ' ms';
  if (ns < 120e9) return (ns / 1e9).toFixed(2) + ' s';
  const minutes = Math.floor(ns / 60e9);
  return minutes + ' min ' + String(Math.floor(ns / 1e9) % 60).padStart(2, '0') + ' s';
}

// A figure's unit is the end of its key, as in the JSON.
const UNIT_OF_KEY = [
  [/bytes(_|$)|bytes_per_step/, bytesText],
  [/_ns$/, durationText],
  [/_ratio$/, (value) => (value * 100).toFixed(1) + ' %'],
  [/address$/, (value) => '0x' + value.toString(16)],
];

function valueText(key, value) {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'number') return String(value);
  const unit = UNIT_OF_KEY.find(([pattern]) => pattern.test(key));
  return unit ? unit[1](value) : String(value);
}

// "live_at_exit_bytes" is headed "Live at exit".
function keyText(key) {
  const words = key.replace(/_(bytes|ns|ratio)$/, '').replace(/_/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function plural(count, word) {
  return count + ' ' + word + (count === 1 ? '' : 's');
}

// Text from a trace only ever becomes text nodes.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

function replaceChildren(id, ...children) {
  byId(id).replaceChildren(...children);
}

// A row of buttons of which one is pressed.
function choiceButtons(label, values, current, choose) {
  return element('span', { role: 'group', 'aria-label': label }, element('span', { class: 'faint' }, label),
    ...values.map(([value, text]) => element('button', {
      type: 'button', 'aria-pressed': String(value === current), onclick: () => choose(value),
    }, text)));
}

// Colours that differ in light and dark, and to most who see no red or green.
const PALETTE = ['#4e79a7', '#a0cbe8', '#59a14f', '#b07aa1', '#76b7b2', '#edc948', '#e15759', '#9c755f',
  '#ff9da7', '#f28e2b', '#d37295', '#bab0ac', '#8cd17d', '#b6992d', '#499894', '#d4a6c8'];
const REST_COLOUR = '#8a929b';

function colourOfNumber(number) {
  return PALETTE[number % PALETTE.length];
}

// The same text has the same colour on every page.
function colourOfText(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return colourOfNumber(hash >>> 0);
}

function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A canvas of so many CSS pixels of height, sharp on every screen, cleared.
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
