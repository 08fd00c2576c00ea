// SPDX-License-Identifier: MIT
// The "series" of one trace, as in the JSON: live bytes over time, by owner. The class computes sums
// and draws nothing.

function frameText(frame) {
  const file = frame.file ? frame.file.replace(/^.*\//, '') + (frame.line ? ':' + frame.line : '') + ' ' : '';
  return file + frame.function;
}

// Makes a tree from rows of calls, [{frames: outermost first, bytes, change}]. change, {before,
// after}, is optional. Bytes and changes are summed at each node.
function callTree(name, rows, isInverted) {
  const makeNode = (own) => ({ bytes: 0, change: rows.length && rows[0].change ? { before: 0, after: 0 } : null, children: new Map(), ...own });
  const root = makeNode({ name });
  for (const row of rows) {
    let node = root;
    for (const frame of [null, ...(isInverted ? [...row.frames].reverse() : row.frames)]) {
      if (frame) {
        const text = frameText(frame);
        if (!node.children.has(text)) node.children.set(text, makeNode({ name: text, frame, parent: node }));
        node = node.children.get(text);
      }
      node.bytes += row.bytes;
      if (!row.change) continue;
      node.change.before += row.change.before;
      node.change.after += row.change.after;
    }
  }
  return root;
}

// The first layer of each device, which leads it.
function leadingLayers(layers) {
  return layers.filter((layer, i) => layers.findIndex((other) => other.device === layer.device) === i);
}

class Series {
  constructor(series) {
    Object.assign(this, series);
    this.live = new Map();
    this.snapshotCount = this.snapshots.seq.length;
    this.categoryNumbers = new Map(this.categories.map((row, number) => [row.category, number]));
    this.stackNumbers = new Map(this.stacks.map((stack, number) => [stack.stack_id, number]));
  }

  layerName(layer) {
    return (layer.pool ? layer.pool + ' pool' : layer.layer) + (layer.device === null ? '' : ' of device ' + layer.device);
  }

  // Live bytes of a layer at a snapshot: the sum over its call stacks, computed once for all
  // snapshots.
  liveAt(layer, snapshot) {
    if (!this.live.has(layer))
      this.live.set(layer, this.snapshots.seq.map((_, i) => layer.sites.reduce((sum, site) => sum + site.bytes[i], 0)));
    return this.live.get(layer)[snapshot];
  }

  // An estimate has no times, so its events are named by number.
  momentText(snapshot) {
    const time = this.snapshots.time_ns[snapshot];
    return time === null ? 'event ' + this.snapshots.seq[snapshot] : durationText(time);
  }

  nearestSnapshot(key, value) {
    const values = this.snapshots[key];
    let best = 0;
    for (let i = 1; i < values.length; i++)
      if (Math.abs(values[i] - value) < Math.abs(values[best] - value)) best = i;
    return best;
  }

  // The first snapshot with the layer's highest live bytes.
  peakOf(layer) {
    let best = 0;
    for (let i = 1; i < this.snapshotCount; i++)
      if (this.liveAt(layer, i) > this.liveAt(layer, best)) best = i;
    return best;
  }

  // Frames of a stack, outermost first.
  framesOf(number) {
    const found = [];
    for (let node = this.stacks[number].node; node !== null; node = this.nodes.parent[node])
      found.unshift(this.frames[this.nodes.frame[node]]);
    return found;
  }

  siteText(number) {
    return number === null ? 'other call stacks' : this.stacks[number].site || '(no call stack)';
  }

  // The frames that a reader needs first: the program's own (only its Python frames, if there are
  // any), and the function that the innermost of them called. A stack without such frames is shown
  // by its site.
  foldedFrames(number) {
    const { called } = this.stacks[number];
    const own = this.framesOf(number).filter((frame) => frame.role === 'program');
    const python = own.filter((frame) => frame.kind === 'python'), kept = python.length ? python : own;
    const last = kept[kept.length - 1];
    if (!last) return [{ function: this.siteText(number), file: null, line: null }];
    return called && called !== last.function ? [...kept, { function: called, file: null, line: null }] : kept;
  }

  // Rows for callTree: the frames of each stack with its bytes.
  calls(bytesOfSite, layer, showsAll) {
    return layer.sites.map((site) => {
      const frames = site.stack === null ? [] : showsAll ? this.framesOf(site.stack) : this.foldedFrames(site.stack);
      return { bytes: bytesOfSite(site), frames: frames.length ? frames : [{ function: this.siteText(site.stack), file: null }] };
    }).filter((row) => row.bytes > 0);
  }

  // The sites with their bytes under a mode, the largest first. Sites of the same name are one row.
  siteRows(bytesOfSite, layer) {
    const rows = new Map();
    for (const site of layer.sites) {
      const bytes = bytesOfSite(site);
      if (bytes <= 0) continue;
      const name = this.siteText(site.stack);
      rows.set(name, (rows.get(name) || 0) + bytes);
    }
    return [...rows].map(([site, bytes]) => ({ site, bytes })).sort((a, b) => b.bytes - a.bytes);
  }

  // The memory map nearest to a snapshot: {number, snapshot, left_out_count, left_out_bytes}.
  mapNear(layer, snapshot) {
    const distance = (map) => Math.abs(map.snapshot - snapshot);
    const maps = layer.maps.map((map, number) => ({ ...map, number }));
    return maps.reduce((best, map) => (distance(map) < distance(best) ? map : best));
  }

  segmentsAt(layer, map) {
    return layer.segments.filter((segment) => segment.first_map <= map.number && map.number < segment.end_map)
      .sort((a, b) => a.address - b.address);
  }

  blocksAt(layer, map) {
    const all = layer.blocks, found = [];
    for (let i = 0; i < all.address.length; i++)
      if (all.first_snapshot[i] <= map.snapshot && map.snapshot < all.end_snapshot[i])
        found.push({
          address: all.address[i], bytes: all.size_bytes[i], stack: all.stack[i], category: all.category[i],
          first: all.first_snapshot[i], end: all.end_snapshot[i],
        });
    return found;
  }
}
