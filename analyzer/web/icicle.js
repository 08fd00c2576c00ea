// SPDX-License-Identifier: MIT
// Draws the tree of calls that held memory at a moment, from the top down. A node is as wide as its bytes.
// A click or Enter zooms in; the arrow keys walk.

const CELL_HEIGHT = 20, CELLS_DEEP = 40;

// The children with bytes, the largest first.
function childrenOf(node) {
  return [...node.children.values()].filter((child) => child.bytes > 0).sort((a, b) => b.bytes - a.bytes);
}

class Icicle {
  constructor(onPath) {
    this.canvas = byId('icicle');
    this.onPath = onPath;
    this.search = '';
    this.canvas.addEventListener('click', (event) => this.zoom(this.cellAt(event)));
    this.canvas.addEventListener('mousemove', (event) => {
      const cell = this.cellAt(event);
      this.canvas.style.cursor = cell ? 'pointer' : '';
      showHint(event, cell ? this.cellText(cell.node) : '');
    });
    this.canvas.addEventListener('mouseleave', (event) => showHint(event, ''));
    this.canvas.addEventListener('keydown', (event) => this.walk(event));
  }

  // Draws another tree. Keeps the zoom as far down as the new tree has the same names.
  draw(root) {
    const names = this.root && this.top ? this.pathOf(this.top).map((node) => node.name) : [];
    this.root = root;
    this.top = root;
    for (const name of names.slice(1)) {
      const child = this.top.children.get(name);
      if (!child || !child.bytes) break;
      this.top = child;
    }
    this.chosen = this.top;
    this.paint();
  }

  pathOf(node) {
    const path = [];
    for (let at = node; at; at = at.parent) path.unshift(at);
    return path;
  }

  cellText(node) {
    const share = this.root.bytes ? ' (' + decimalText(100 * node.bytes / this.root.bytes, 1) + ' %)' : '';
    const place = node.frame && node.frame.file ? '\n' + node.frame.file + (node.frame.line ? ':' + node.frame.line : '') : '';
    const change = node.change ? '\n' + deltaText(node.change) + ': from ' + bytesText(node.change.before) + ' to ' + bytesText(node.change.after) : '';
    return bytesText(node.bytes) + share + change + '\n' + node.name + place;
  }

  // Returns [colour, alpha]. The colour depends on the name, so equal names look the same. A change has the
  // colour of its direction, and is more opaque the larger its share.
  colourOf(node) {
    if (this.search && !this.matches(node)) return [style('--free'), 1];
    if (node.change) {
      const ratio = changeRatio(node.change);
      return ratio ? [style(ratio > 0 ? '--more' : '--less'), 0.2 + 0.7 * Math.abs(ratio)] : [style('--free'), 1];
    }
    return node === this.root ? [style('--free'), 1] : [colourOfText(node.name), 0.55];
  }

  layOut() {
    const width = this.canvas.clientWidth, cells = [];
    const above = this.pathOf(this.top);
    above.forEach((node, depth) => cells.push({ node, depth, x: 0, width }));
    let row = [{ node: this.top, x: 0, width }];
    for (let depth = above.length; row.length && depth < CELLS_DEEP; depth++) {
      const next = [];
      for (const { node, x, width: space } of row) {
        let at = x;
        for (const child of childrenOf(node)) {
          const wide = space * child.bytes / node.bytes;
          if (wide >= 1) next.push({ node: child, x: at, width: wide });
          at += wide;
        }
      }
      for (const cell of next) cells.push({ ...cell, depth });
      row = next;
    }
    return cells;
  }

  matches(node) {
    return this.search && node !== this.root && node.name.toLowerCase().includes(this.search.toLowerCase());
  }

  paint() {
    this.cells = this.layOut();
    const depth = Math.max(...this.cells.map((cell) => cell.depth)) + 1;
    const context = canvasContext(this.canvas, Math.max(depth, 2) * CELL_HEIGHT + 2);
    const ink = style('--ink'), mark = style('--mark');
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    for (const { node, depth: row, x, width } of this.cells) {
      const y = row * CELL_HEIGHT;
      [context.fillStyle, context.globalAlpha] = this.colourOf(node);
      context.fillRect(x, y, Math.max(width - 1, 1), CELL_HEIGHT - 1);
      context.globalAlpha = 1;
      if (node === this.chosen) {
        context.strokeStyle = mark;
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, Math.max(width - 3, 1), CELL_HEIGHT - 3);
      }
      if (width > 40) this.paintText(context, node, x, y, width, ink);
    }
    this.canvas.setAttribute('aria-label', 'Calls that held ' + bytesText(this.root.bytes) + ': ' +
      this.cellText(this.chosen).replace(/\n/g, ', ') + '. Arrow keys walk, Enter zooms in, Escape out.');
    this.onPath([this.foundText(), this.chosen === this.root ? '' : this.pathOf(this.chosen).slice(1).map((node) => node.name).join(' › ') +
      ': ' + bytesText(this.chosen.bytes)].filter(Boolean).join('  ·  '));
  }

  // Sums the outermost calls that match. Matches inside of a match are not counted again.
  foundText() {
    if (!this.search) return '';
    const found = [], look = (node) => { for (const child of childrenOf(node)) if (this.matches(child)) found.push(child); else look(child); };
    look(this.root);
    const bytes = found.reduce((sum, node) => sum + node.bytes, 0);
    return found.length ? plural(found.length, 'call') + ' of "' + visibleText(this.search) + '": ' + bytesText(bytes) +
      ' (' + decimalText(100 * bytes / this.root.bytes, 1) + ' %)' : 'No call of "' + visibleText(this.search) + '".';
  }

  paintText(context, node, x, y, width, ink) {
    const room = width - 8, widthOf = (one) => context.measureText(one).width;
    const name = visibleText(node.name);
    let text = name + '  ' + (node.change ? deltaText(node.change) : bytesText(node.bytes));
    if (widthOf(text) > room) text = name;
    for (let most = Math.ceil((text.length * room) / widthOf(text)); most > 0 && widthOf(text) > room; most--) text = name.slice(0, most) + '…';
    context.save();
    context.beginPath();
    context.rect(x, y, width - 2, CELL_HEIGHT);
    context.clip();
    context.fillStyle = ink;
    context.fillText(text, x + 4, y + CELL_HEIGHT / 2);
    context.restore();
  }

  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, row = Math.floor((event.clientY - box.top) / CELL_HEIGHT);
    return this.cells.find((cell) => cell.depth === row && cell.x <= x && x < cell.x + cell.width);
  }

  zoom(cell) {
    if (!cell) return;
    this.top = this.chosen = cell.node;
    this.paint();
  }

  walk(event) {
    const inner = childrenOf(this.chosen), beside = this.chosen.parent ? childrenOf(this.chosen.parent) : [this.chosen];
    const at = beside.indexOf(this.chosen);
    const moves = {
      ArrowDown: inner[0], ArrowUp: this.chosen.parent, ArrowLeft: beside[at - 1], ArrowRight: beside[at + 1],
      Enter: this.chosen, Escape: this.root,
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const found = moves[event.key];
    if (!found) return;
    if (event.key === 'Enter' || event.key === 'Escape') this.top = found;
    else if (!this.pathOf(found).includes(this.top) && !this.pathOf(this.top).includes(found)) this.top = found.parent || this.root;
    this.chosen = found;
    this.paint();
  }

  searchFor(text) {
    this.search = text;
    this.paint();
  }
}
