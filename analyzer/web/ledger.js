// SPDX-License-Identifier: MIT
// The card's memory by owner at each moment of the ledger: a bar whose parts add up to the card.

// This text must be the same as the commands print.
function momentText(at) {
  return at.startsWith('oom:') ? 'at failure ' + at.slice(4) : at === 'peak' || at === 'end' ? 'at the ' + at : 'at ' + at;
}

// Each owner of a device has a colour of its own, the same in all bars.
function ownerColours(one) {
  const owners = [...new Set(one.moments.flatMap((moment) => moment.terms.filter((term) => term.bytes > 0).map((term) => term.title)))];
  return new Map(owners.map((owner, number) => [owner, colourOfNumber(number)]));
}

// The terms and the rest of the card: [{title, source, bytes, colour}].
function ledgerParts(moment, colours) {
  const { unaccounted_bytes: unlisted, used_bytes: used, total_bytes: total } = moment;
  const parts = moment.terms.map((term) => ({ ...term, colour: colours.get(term.title) }));
  if (unlisted > 0) parts.push({ title: 'not attributed by NVML', source: 'difference', bytes: unlisted, colour: REST_COLOUR });
  const counted = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (used !== null && total > counted) parts.push({ title: 'free', source: 'the card', bytes: total - counted, colour: style('--free') });
  return parts.filter((part) => part.bytes > 0);
}

function ledgerHeading(device, moment) {
  return 'Device ' + device + ', ' + momentText(moment.at) + ': ' + (moment.used_bytes === null ? bytesText(moment.process_bytes) + ' of this process' :
    bytesText(moment.used_bytes) + ' used' + (moment.total_bytes ? ' of ' + bytesText(moment.total_bytes) : ''));
}

function ledgerBar(device, moment, colours) {
  const parts = ledgerParts(moment, colours), counted = parts.reduce((sum, part) => sum + part.bytes, 0);
  const whole = Math.max(moment.total_bytes || 0, counted);
  const bar = parts.map(({ title, bytes, colour }) => {
    const part = element('span', { title: title + ': ' + bytesText(bytes) });
    part.style.flexGrow = bytes / whole;
    part.style.background = colour;
    return part;
  });
  return element('div', {}, element('h3', {}, ledgerHeading(device, moment)), element('div', { class: 'bar' }, ...bar),
    element('ul', { class: 'legend' }, ...parts.map(({ title, source, bytes, colour }) =>
      legendEntry(colour, title + ' ' + bytesText(bytes) + ' (' + source + ')'))));
}

function ledgersOf(ledger) {
  return (ledger || []).filter((one) => one.moments && one.moments.length);
}

function showLedger(ledger) {
  const ledgers = ledgersOf(ledger);
  byId('ledgers').hidden = !ledgers.length;
  replaceChildren('ledger', ...ledgers.flatMap((one) => one.moments.map((moment) => ledgerBar(one.device, moment, ownerColours(one)))));
}

function ledgerText(ledger) {
  return ledgersOf(ledger).flatMap((one) => one.moments.flatMap((moment) => ['', ledgerHeading(one.device, moment),
    ...ledgerParts(moment, new Map()).map(({ title, source, bytes }) => bytesText(bytes).padStart(13) + '  ' + title + ' (' + source + ')')]));
}
