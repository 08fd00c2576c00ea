// SPDX-License-Identifier: MIT
// Shows the change since another run or a baseline's file, with the lines of both sides in one tree.
// The command has chosen the moment of each side.

// The modes of the change. A mode decides which bytes give a node its width.
const CHANGE_MODES = [
  ['changed', 'against the baseline', (leaf) => leaf.after_bytes],
  ['before', 'the baseline', (leaf) => leaf.before_bytes],
  ['more', 'more than the baseline', (leaf) => (leaf.is_moved ? 0 : Math.max(leaf.after_bytes - leaf.before_bytes, 0))],
];

class Change {
  constructor(tree, rows) {
    Object.assign(this, tree);
    this.rows = rows;
  }

  framesOf(leaf) {
    const found = leaf.called ? [{ function: leaf.called, file: null }] : [];
    for (let node = leaf.node; node !== null; node = this.nodes[node].outer) found.unshift(this.nodes[node]);
    return found.length ? found : [{ function: '(no call stack)', file: null }];
  }

  // Rows for callTree. A moved leaf counts as unchanged, at its new place.
  calls(mode) {
    const [, , bytesOf] = CHANGE_MODES.find(([name]) => name === mode);
    return this.leaves.map((leaf) => ({
      frames: this.framesOf(leaf), bytes: bytesOf(leaf),
      change: { before: leaf.is_moved ? leaf.after_bytes : leaf.before_bytes, after: leaf.after_bytes },
    }));
  }

  // The lines to blame. They add up to the change.
  siteRows() {
    return this.rows.map(({ site, delta_bytes, before_bytes, after_bytes, category }) => ({ site, delta_bytes, before_bytes, after_bytes, category }));
  }
}

function deltaText(change) {
  const delta = change.after - change.before;
  return delta ? (delta > 0 ? '+' : '') + bytesText(delta) : '±0';
}

// Returns a number from -1 (gone) to 1 (new).
function changeRatio({ before, after }) {
  return before === after ? 0 : (after - before) / Math.max(before, after);
}
