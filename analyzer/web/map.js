// SPDX-License-Identifier: MIT
// Draws segments and their blocks at a moment, to scale, in lines of equal length. Holes are bytes that
// no block covers. At a failure, the requested size is drawn beside the largest hole.

const MAP_LINES = 18, MAP_LINE_HEIGHT = 18, MAP_GAP = 4, ASKED_TEXT_PIXELS = 170;

// Ranges of addresses with their blocks. A layer without segments has its blocks as ranges.
function mapRanges(series, layer, map) {
  const blocks = series.blocksAt(layer, map);
  const ranges = series.segmentsAt(layer, map)
    .map((segment) => ({ address: segment.address, bytes: segment.size_bytes, isMapped: segment.mapped, blocks: [] }));
  if (!ranges.length)
    return blocks.map((block) => ({ address: block.address, bytes: block.bytes, isMapped: false, blocks: [block] }));
  let at = 0;
  for (const block of blocks) {
    while (at + 1 < ranges.length && ranges[at + 1].address <= block.address) at++;
    if (block.address >= ranges[at].address && block.address < ranges[at].address + ranges[at].bytes) ranges[at].blocks.push(block);
  }
  return joinMapped(ranges);
}

// Joins adjacent mappings, because a hole may continue in the next mapping.
function joinMapped(ranges) {
  const joined = [];
  for (const range of ranges) {
    const last = joined[joined.length - 1];
    if (last && last.isMapped && range.isMapped && last.address + last.bytes === range.address) {
      last.bytes += range.bytes;
      last.blocks.push(...range.blocks);
    } else joined.push(range);
  }
  return joined;
}

// Gaps between the blocks of the page: [{bytes, range}].
function holesOf(ranges) {
  const holes = [];
  for (const range of ranges) {
    let at = range.address;
    for (const block of range.blocks) {
      if (block.address > at) holes.push({ address: at, bytes: block.address - at, range });
      at = Math.max(at, block.address + block.bytes);
    }
    const end = range.address + range.bytes;
    if (end > at) holes.push({ address: at, bytes: end - at, range });
  }
  return holes;
}

class MemoryMap {
  constructor() {
    this.canvas = byId('map');
    this.canvas.addEventListener('mousemove', (event) => showHint(event, this.textAt(event)));
    this.canvas.addEventListener('mouseleave', (event) => showHint(event, ''));
    this.canvas.addEventListener('keydown', (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (move === undefined || !this.pieces.length) return;
      event.preventDefault();
      this.chosen = Math.max(0, Math.min(this.pieces.length - 1, (this.chosen ?? -move) + move));
      this.paint();
      this.say(this.pieceText(this.pieces[this.chosen]));
    });
  }

  draw(series, layer, snapshot, showsPinning) {
    this.map = series.mapNear(layer, snapshot);
    this.isExact = this.map.snapshot === snapshot;
    this.ranges = mapRanges(series, layer, this.map);
    this.total = this.ranges.reduce((sum, range) => sum + range.bytes, 0);
    const failure = series.failures.find((one) => one.snapshot === this.map.snapshot && (one.device === layer.device || one.device === null));
    Object.assign(this, { series, layer, showsPinning, failure, chosen: undefined });
    this.holes = holesOf(this.ranges);
    this.pieces = this.layOut();
    this.paint();
    this.say(this.words());
    const used = new Set(this.ranges.flatMap((range) => range.blocks.map((block) => block.category)));
    replaceChildren('map-legend', ...[...used].map((number) => legendEntry(this.colourOf(number), series.categories[number].title)),
      legendEntry(style('--free'), this.map.left_out_count ? 'no block, or a smaller one' : 'no block'));
  }

  say(text) {
    byId('map-words').textContent = text;
  }

  words() {
    const { series, layer, map } = this, parts = [];
    const live = series.liveAt(layer, map.snapshot);
    if (!this.isExact)
      parts.push('The nearest moment with a map is shown: ' + durationText(series.snapshots.time_ns[map.snapshot]) + '.');
    if (layer.segments.length)
      parts.push(plural(this.ranges.length, 'segment') + ' of ' + bytesText(this.total) + ', ' + bytesText(live) + ' live, ' +
        bytesText(this.total - live) + ' idle.');
    else parts.push(this.total ? plural(this.ranges.length, 'block') + ' of ' + bytesText(this.total) + '.' : 'No block is live.');
    if (map.left_out_count)
      parts.push(plural(map.left_out_count, 'smaller block') + ' of ' + bytesText(map.left_out_bytes) + ' not drawn.');
    else if (layer.segments.length) parts.push('The largest hole: ' + bytesText(this.largestHole()) + '.');
    if (this.failure) parts.push('Requested: ' + bytesText(this.failure.size_bytes) + '.');
    return parts.join(' ');
  }

  largestHole() {
    return this.holes.reduce((most, hole) => Math.max(most, hole.bytes), 0);
  }

  // True if blocks keep this segment allocated although it is less than half full.
  isPinning(range) {
    return range.blocks.length > 0 && range.blocks.reduce((sum, block) => sum + block.bytes, 0) < range.bytes / 2;
  }

  colourOf(category) {
    return colourOfNumber(category);
  }

  // Blocks and holes with their begin, in bytes from the start of the map.
  layOut() {
    const pieces = [];
    let begin = 0;
    for (const range of this.ranges) {
      for (const block of range.blocks)
        pieces.push({ begin: begin + block.address - range.address, bytes: block.bytes, block, range });
      begin += range.bytes;
    }
    let start = 0;
    const starts = new Map();
    for (const range of this.ranges) { starts.set(range, start); start += range.bytes; }
    for (const hole of this.holes)
      pieces.push({ begin: starts.get(hole.range) + hole.address - hole.range.address, bytes: hole.bytes, range: hole.range });
    return pieces.sort((a, b) => a.begin - b.begin);
  }

  lineBytes() {
    return Math.max(1, this.total / MAP_LINES);
  }

  // Fills a range of the map with the current colour: one rectangle for each line that it touches.
  fill(context, width, begin, bytes, inset) {
    const line = this.lineBytes();
    for (let row = Math.floor(begin / line); row * line < begin + bytes && row < MAP_LINES; row++) {
      const from = Math.max(begin - row * line, 0) / line * width;
      const to = Math.min(begin + bytes - row * line, line) / line * width;
      context.fillRect(from, row * (MAP_LINE_HEIGHT + MAP_GAP) + inset, Math.max(to - from - (to - from > 2 ? 0.5 : 0), 0.5),
        MAP_LINE_HEIGHT - 2 * inset);
    }
  }

  // Returns [colour, alpha, pieces] for each colour. Pieces are grouped by colour, because there are thousands and setting
  // a colour takes longer than drawing.
  piecesByLook() {
    const lit = new Set(this.showsPinning ? this.ranges.filter((range) => this.isPinning(range)) : this.ranges), looks = new Map();
    for (const piece of this.pieces) {
      const number = piece.block ? piece.block.category : -1, alpha = piece.block && !lit.has(piece.range) ? 0.25 : 1, key = number + ' ' + alpha;
      if (!looks.has(key)) looks.set(key, [number < 0 ? style('--free') : this.colourOf(number), alpha, []]);
      looks.get(key)[2].push(piece);
    }
    return looks.values();
  }

  paint() {
    const base = this.total ? MAP_LINES * (MAP_LINE_HEIGHT + MAP_GAP) : 0;
    const context = canvasContext(this.canvas, base + (this.failure ? 44 : 0)), width = this.canvas.clientWidth;
    for (const [colour, alpha, pieces] of this.piecesByLook()) {
      [context.fillStyle, context.globalAlpha] = [colour, alpha];
      for (const piece of pieces) this.fill(context, width, piece.begin, piece.bytes, 0);
    }
    [context.fillStyle, context.globalAlpha] = [style('--ink'), 1];
    let begin = 0;
    for (const range of this.ranges) {
      this.fill(context, width, begin, Math.min(range.bytes, this.lineBytes() / width), 0);
      begin += range.bytes;
    }
    context.fillStyle = style('--mark');
    if (this.chosen !== undefined) this.fill(context, width, this.pieces[this.chosen].begin, this.pieces[this.chosen].bytes, 5);
    if (this.failure) this.paintAsked(context, base);
    this.canvas.setAttribute('aria-label', this.words() + ' Left and right arrows walk through blocks and holes.');
  }

  // This drawing has a scale of its own, because the requested size may be longer than any line.
  paintAsked(context, top) {
    const width = this.canvas.clientWidth - ASKED_TEXT_PIXELS;
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const bars = [[this.failure.size_bytes, style('--alarm'), 'requested ']];
    if (this.layer.segments.length && !this.map.left_out_count) bars.push([this.largestHole(), REST_COLOUR, 'largest hole ']);
    const most = Math.max(...bars.map(([bytes]) => bytes));
    bars.forEach(([bytes, colour, text], row) => {
      const wide = Math.max(width * bytes / most, 1), y = top + 4 + row * 20;
      context.fillStyle = colour;
      context.fillRect(0, y, wide, 16);
      context.fillStyle = style('--ink');
      context.fillText(text + bytesText(bytes), wide + 6, y + 8);
    });
  }

  textAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / (MAP_LINE_HEIGHT + MAP_GAP));
    if (row >= MAP_LINES) return '';
    const at = (row + (event.clientX - box.left) / this.canvas.clientWidth) * this.lineBytes();
    const piece = this.pieces.find((one) => one.begin <= at && at < one.begin + one.bytes);
    return piece ? this.pieceText(piece) : '';
  }

  // The phase says where a free happened, because frees have no call stack.
  phaseText(snapshot) {
    const { points } = this.layer, seq = this.series.snapshots.seq[snapshot];
    const at = points.seq.findLastIndex((one) => one <= seq), phase = at < 0 ? null : points.phase[at];
    return phase === null ? '' : ' (' + this.series.phases[phase].phase + ')';
  }

  pieceText(piece) {
    const segment = 'segment of ' + bytesText(piece.range.bytes) + ' at 0x' + piece.range.address.toString(16);
    if (!piece.block) return bytesText(piece.bytes) + ' without a block' + (this.map.left_out_count ? ' that is drawn' : '') + '\n' + segment;
    const { block } = piece, times = this.series.snapshots.time_ns;
    const frames = this.series.foldedFrames(block.stack).reverse().slice(0, 8).map((frame) => frameText(frame));
    const born = block.first ? 'born after ' + durationText(times[block.first - 1]) : 'born before ' + durationText(times[0]);
    const ended = block.end < times.length ? 'gone by ' + durationText(times[block.end]) + this.phaseText(block.end) : 'live at the end';
    return [bytesText(block.bytes) + '  ' + this.series.categories[block.category].title + '  at 0x' + block.address.toString(16),
      this.series.siteText(block.stack), ...frames, born + ', ' + ended, segment].join('\n');
  }
}
