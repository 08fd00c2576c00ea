# SPDX-License-Identifier: MIT
"""Computes the figures that the commands must print about a trace, from its Books. Each figure follows its definition
over all blocks and moments; no figure is carried from one event to the next. A dictionary has the keys of the command's
JSON."""

import collections
import itertools

from reference import blame, holders, leaks, step_ends
from reference.failures import Failures
from reference.frag_model import pinned_by, streams
from reference.graphs import Graphs
from reference.holes import Holes, join
from reference.oom import GRANULE, explain, retries
from reference.uses import Uses
from reference.phases import EACH, each

ACCOUNT_KINDS = {"driver": "device", "managed": "managed", "host": "host", "imported": "imported", "context": "context"}
NOT_PLAIN = ("virtual", "array", "stream-ordered", "graph pool")


def forward_stacks(books, kinds=("tensor",)):
    """Returns {index of an event: forward stack} for each event in a backward that allocates memory of one of these
    kinds. kinds=None selects every event in a backward. The forward stack is the stack of the first tensor that was
    allocated or requested under the same node, or of the event of the node. The code is slow and plain: it keeps every
    node, because no trace here has more nodes than the analyzer keeps."""
    work, first, found = {}, {}, {}
    for event in books.events[: books.count]:
        if event.result is None:  # the process was killed inside the call
            continue
        if event.kind == "autograd-node":  # a thread number beyond 32 bits is not PyTorch's
            work[event.thread] = (event.address, event.object if event.address < 1 << 32 else 0, event.size == 1)
        maker, number, backward = work.get(event.thread, (0, 0, False))
        if not number:
            continue
        if backward:
            if kinds is None or (event.kind == "alloc" and event.memory in kinds):
                found[event.index] = first.get((maker, number))
        elif event.stack and (event.kind == "autograd-node" or (event.kind == "alloc" and event.memory == "tensor")):
            first.setdefault((maker, number), event.stack)
    return found


class Figures:
    def __init__(self, books):
        self.books, self.graphs, self.failures = books, Graphs(books), Failures(books)
        self.uses = Uses(books, self.failures)
        self.blocks_of = collections.defaultdict(list)
        for block in books.blocks:
            self.blocks_of[block.account].append(block)
        self.forward = forward_stacks(books)
        for block in books.blocks:
            block.forward = self.forward.get(block.begin) or 0
        # The same, also for failures, because a call of the driver may fail in a backward.
        self.forward_of_any = forward_stacks(books, kinds=None)
        self.devices = sorted(books.devices, key=lambda number: -1 if number is None else number)
        self.lives, self.reported, self.categories = {}, None, {}

    # --- live bytes ---

    def live_blocks(self, account, index):
        return [
            block
            for block in self.blocks_of[account]
            if block.begin <= index and (block.end is None or block.end > index)
        ]

    def sum_over_time(self, things):
        """Returns, for each counted event, the bytes of the things that exist right after it."""
        deltas = [0] * (self.books.count + 1)
        for thing in things:
            deltas[thing.begin] += thing.size
            deltas[self.books.count if thing.end is None else thing.end] -= thing.size
        return list(itertools.accumulate(deltas[: self.books.count]))

    def live(self, account):
        if account not in self.lives:
            self.lives[account] = self.sum_over_time(block for block in self.books.blocks if block.account == account)
        return self.lives[account]

    def peak(self, account):
        """Returns (bytes, event). The event is None if nothing was ever live."""
        live = self.live(account)
        bytes_ = max(live, default=0)
        return (bytes_, live.index(bytes_)) if bytes_ else (0, None)

    def at_exit(self, account):
        return self.live(account)[-1] if self.books.count else 0

    # --- layers ---

    def pools(self, device):
        return [account for account in self.books.counts if account[0] == device and account[1] == "pool"]

    def leading(self, device):
        pools = self.pools(device)
        return max(pools, key=lambda account: self.peak(account)[0]) if pools else (device, "device", 0)

    def layers(self, device):
        return [*self.pools(device), (device, "device", 0)]

    def leak_accounts(self, device):
        """Returns the layers, and managed and pinned memory if the program allocated any."""
        used = {block.account for block in self.books.blocks}
        return [*self.layers(device), *(account for kind in step_ends.BESIDE if (account := (device, kind, 0)) in used)]

    def all_layers(self):
        return [account for device in self.devices for account in self.layers(device)]

    def pool_name(self, account):
        if account[1] != "pool":
            return None
        return self.books.strings[account[2]] if account[2] else "pytorch"

    def layer(self, account):
        layer = {"pool": "pool", "context": "device", "managed": "managed", "host": "host"}.get(account[1], "driver")
        return {"layer": layer, "pool": self.pool_name(account)}

    # --- moments ---

    def moment(self, at, account):
        """Returns the event right after which the state is the one that `at` names, or None if there is none."""
        events, failures = self.books.events[: self.books.count], self.failures.list
        word, _, rest = at.partition(":")
        if at == "peak":
            return self.peak(account)[1]
        if at == "end":
            return len(events) - 1 if events else None
        if word == "oom":
            failed, owner = (getattr(failures[int(rest) - 1], name) for name in ("event", "account"))
            return failed.index if owner[0] == account[0] else None
        if word == "phase":
            named = [span for span in self.books.spans if rest in (span.path.name, span.path.text)]
            covered = sorted({i for span in named for i in range(span.begin, span.end)})
            return max(covered, key=lambda i: (self.live(account)[i], -i), default=None)
        limit = (
            (lambda event: event.time <= int(at[:-2])) if at.endswith("ns") else (lambda event: event.seq <= int(at))
        )
        return max((event.index for event in events if limit(event)), default=None)

    def stamp(self, index, time="time_ns", seq="seq"):
        event = self.books.events[index] if index is not None else None
        return {time: event and event.time, seq: event and event.seq}

    # --- report ---

    def counters(self, account, live_key="peak_bytes"):
        count = self.books.counts[account]
        bytes_, index = self.peak(account)
        return {
            live_key: bytes_,
            **self.stamp(index, "peak_time_ns", "peak_seq"),
            "live_at_exit_bytes": self.at_exit(account),
            "allocations": count.allocations,
            "frees": count.frees,
            "failed": count.failed,
        }

    def pool_row(self, account):
        held = [r for r in self.books.ranges if r.pool_account == account]
        reserved = self.sum_over_time(held)
        most = max(reserved, default=0)
        known = bool(held) and most >= self.peak(account)[0]
        name = {"name": self.pool_name(account), "peak_reserved_bytes": most if known else None}
        return {**name, **self.counters(account, "peak_live_bytes")}

    def mempool_row(self, mempool):
        live = self.sum_over_time(block for block in self.books.blocks if block.mempool is mempool)
        used, reserved = ([report[i] for report in mempool.reports] for i in (1, 2))
        return {
            "name": "graph memory" if mempool.is_graph else f"0x{mempool.handle:x}",
            "memory": mempool.memory,
            "peak_used_bytes": max(used, default=0) if mempool.is_reported else max(live, default=0),
            "peak_reserved_bytes": max(reserved, default=0) if mempool.is_reported else None,
        }

    def shown_failures(self):
        """Returns the numbers of the failures that are shown. If there are very many, only the first hundred and the
        last hundred are shown."""
        count = len(self.failures.list)
        return [number for number in range(count) if number < 100 or number >= count - 100]

    def report_once(self):
        self.reported = self.reported or self.report()
        return self.reported

    def report(self):
        devices = []
        for device in self.devices:
            leading = self.leading(device)
            row = {
                "device": device,
                "leading_layer": self.layer(leading)["layer"],
                "leading_pool": self.pool_name(leading),
            }
            for key, kind in ACCOUNT_KINDS.items():
                account = (device, kind, 0)
                row[key] = {**self.counters(account), "implicit_frees": self.books.counts[account].implicit}
            row["pools"] = [self.pool_row(account) for account in self.pools(device)]
            row["mempools"] = [self.mempool_row(mempool) for mempool in self.books.mempools if mempool.device == device]
            row["fragmentation"] = self.fragmentation(leading, "peak")
            row["phases"] = [phase for account in self.layers(device) for phase in self.phases(account)]
            row["sites_at_peak"] = [
                site for account in self.layers(device) for site in self.kept_sites(account, self.peak(account)[1])
            ]
            devices.append(row)
        return {
            "trace": {"events": len(self.books.events), "in_flight_events": self.books.in_flight},
            "devices": devices,
            "oom": [explain(self, number) for number in self.shown_failures()],
            "retries": retries(self),
            "leaks": [self.leaks(row["device"]) for row in devices],
        }

    # --- who held it ---

    def category(self, block):
        if block not in self.categories:
            self.categories[block] = self.category_of(block)
        return self.categories[block]

    def category_of(self, block):
        if block.is_segment:
            return "other"
        frames = self.books.stack_frames(block.stack)
        if block.memory == "tensor" and any(
            f[0] == "python" and "/torch/optim/" in f[2] and f[1].endswith("_init_group") for f in frames
        ):
            return "optimizer"
        return self.uses.category(block)

    def sum_up(self, account, blocks, key_of):
        sums = {}
        for block in blocks:
            key, row = key_of(block)
            row = sums.setdefault(key, {**self.layer(account), "bytes": 0, "count": 0, **row})
            row["bytes"] += block.size
            row["count"] += 1
        return list(sums.values())

    def path_text(self, span):
        return span.path.text if span else None

    def site(self, block):
        frames = self.books.stack_frames(block.stack)
        path, category = block.span and block.span.path, self.category(block)
        forward = self.forward.get(block.begin)
        return (block.stack, forward, path, category), {
            "phase": self.path_text(block.span),
            "category": category,
            "frames": frames,
            "forward": self.books.stack_frames(forward),
            "path": path,
        }

    def sites(self, account, index):
        rows = self.sum_up(account, self.live_blocks(account, index), self.site) if index is not None else []
        return blame.headed(rows)

    def kept_sites(self, account, index):
        """Returns the sites, with what keeps them alive if the trace tells it."""

        def site(block):
            key, row = self.site(block)
            return key, {**row, **holders.kept_by(self, account, index, block.stack)}

        rows = self.sum_up(account, self.live_blocks(account, index), site) if index is not None else []
        return blame.headed(rows)

    def peak_page(self, at):
        devices = []
        for device in self.devices:
            row = {"device": device, "moments": [], "categories": [], "phases_of_birth": [], "sites": []}
            for account in self.layers(device):
                index = self.moment(at, account)
                blocks = self.live_blocks(account, index) if index is not None else []
                row["moments"].append(
                    {
                        **self.layer(account),
                        "at": at,
                        **self.stamp(index),
                        "live_bytes": sum(b.size for b in blocks),
                        "blocks": len(blocks),
                    }
                )
                row["categories"] += self.sum_up(
                    account, blocks, lambda b: (self.category(b), {"category": self.category(b)})
                )
                row["phases_of_birth"] += self.sum_up(
                    account, blocks, lambda b: (b.span and b.span.path, {"phase": self.path_text(b.span)})
                )
                row["sites"] += self.kept_sites(account, index)
            devices.append(row)
        return {"devices": devices}

    # --- phases ---

    def phases(self, account):
        live, spent, rows = self.live(account), self.spent(account), []
        spans_of = {path: [] for path in self.books.paths.values()}
        for span in self.books.spans:
            spans_of[span.path].append(span)
        for path, spans in spans_of.items():
            entries = [live[span.begin - 1] if span.begin else 0 for span in spans]
            allocated, freed, kept = (sum(column) for column in zip(*(spent.get(span, (0, 0, 0)) for span in spans)))
            rows.append(
                {
                    **self.layer(account),
                    "name": path.name,
                    "path": path.text,
                    "source": path.source,
                    "count": len(spans),
                    "entry_bytes": entries[0],
                    "peak_bytes": max(entries + [most for span in spans for most in live[span.begin : span.end]]),
                    "allocated_bytes": allocated,
                    "freed_bytes": freed,
                    "kept_bytes": kept,
                    **each(live, spans, spent, step_ends.step_ends(self.books)[1]),
                }
            )
        unknown = dict.fromkeys(rows[0]) if rows else {}  # these rows are no occurrences of a phase
        return rows + [{**unknown, **row} for row in self.outside(account)]

    def phases_page(self):
        devices = [
            {"device": device, "phases": [row for account in self.layers(device) for row in self.phases(account)]}
            for device in self.devices
        ]
        return {"devices": devices, "library_ranges": self.books.library_ranges}

    def spent(self, account):
        """Returns {span: (allocated, freed, kept)}. The figures count what happened while the span was open, in the
        span itself or in a span inside it."""
        spent = {}
        for index, block, birth, where in self.books.changes:
            if block.account != account:
                continue
            size = block.size
            for start, more in (
                (where, (size, 0, 0) if birth else (0, size, 0)),
                (block.span, (0, 0, size if birth else -size)),
            ):
                while start:
                    if start.begin <= index < start.end:
                        spent[start] = tuple(a + b for a, b in zip(spent.get(start, (0, 0, 0)), more))
                    start = start.parent
        return spent

    def outside(self, account):
        mine = [change for change in self.books.changes if change[1].account == account]
        here = [change for change in mine if change[3] is None]
        born = [block for _, block, birth, _ in mine if birth and block.span is None]
        if not here:
            return []
        return [
            {
                **self.layer(account),
                "name": None,
                "path": None,
                "source": None,
                "count": 1,
                "entry_bytes": 0,
                "peak_bytes": max(self.live(account)[index] for index, *_ in here),
                "allocated_bytes": sum(block.size for block in born),
                "freed_bytes": sum(block.size for _, block, birth, _ in here if not birth),
                "kept_bytes": sum(block.size for block in born if block.end is None),
                **dict.fromkeys(EACH),
            }
        ]

    # --- growth ---

    def leaks(self, device):
        layers = self.leak_accounts(device)
        last = self.books.count - 1
        return {
            "device": device,
            "totals": [
                {**self.layer(s), "live_at_exit_bytes": self.at_exit(s), "blocks": len(self.live_blocks(s, last))}
                for s in layers
            ],
            **leaks.growth(self, layers),
            "live_at_exit": [row for account in layers for row in self.kept_sites(account, last)],
            **holders.list_of(self, lambda: [holders.rows(self, account, last, of_walk=True) for account in layers]),
        }

    # --- fragmentation ---

    def pool_parts(self, account, index):
        held = [
            r
            for r in self.books.ranges
            if r.pool_account == account and r.begin <= index and (r.end is None or r.end > index)
        ]
        live = [(block.address, block.address + block.size) for block in self.live_blocks(account, index)]
        total = sum(r.size for r in held)
        of_graphs = [(r.address, r.address + r.size) for r in held if self.graphs.is_of_graph(r, index)]
        held = [r for r in held if not self.graphs.is_of_graph(r, index)]
        alone = [(r.address, r.address + r.size) for r in held]
        joined = join(stretch for stretch, r in zip(alone, held) if r.physical)
        joined += [stretch for stretch, r in zip(alone, held) if not r.physical]
        return total, Holes(joined, live).largest, Holes(alone, live).stranded, Holes(of_graphs, live).total

    def driver_parts(self, account, index):
        blocks = self.live_blocks(account, index)
        plain = [(block.address, block.address + block.size) for block in blocks if block.memory not in NOT_PLAIN]
        granules = join((a // GRANULE * GRANULE, -(-b // GRANULE) * GRANULE) for a, b in plain)
        holes = Holes(granules, plain)
        reserved = sum(b - a for a, b in granules) + sum(
            block.size for block in blocks if block.memory in ("virtual", "array")
        )
        largest = holes.largest
        pooled = [block for block in blocks if block.memory in ("stream-ordered", "graph pool")]
        reserved += sum(block.size for block in pooled)
        for mempool in self.books.mempools:
            if mempool.device == account[0] and mempool.memory in ("stream-ordered", "graph pool"):
                reports = [kept for when, _, kept in mempool.reports if when <= index]
                idle = (reports[-1] if reports else 0) - sum(block.size for block in pooled if block.mempool is mempool)
                reserved += max(idle, 0)
                largest = max(largest, idle)
        return reserved, largest, holes.stranded

    def sample(self, device, index):
        return next((s for s in reversed(self.books.samples) if s.device == device and s.index <= index), None)

    def frag(self, account, index):
        parts = self.pool_parts if account[1] == "pool" else self.driver_parts
        reserved, largest, stranded, *graphs = parts(account, index)
        live = sum(block.size for block in self.live_blocks(account, index))
        free = max(reserved - live - sum(graphs), 0)
        row = {
            "reserved_bytes": reserved,
            "live_bytes": live,
            "free_bytes": free,
            "largest_free_bytes": largest,
            "external_ratio": 1 - largest / free if free > largest else 0.0,
            "stranded_bytes": min(stranded, free),
        }
        if reserved < live:
            row = {key: live if key == "live_bytes" else None for key in row}
        return row

    def card_free(self, device, index):
        """Returns the card's last known free memory minus the bytes that this process took afterwards, or None without
        a sample."""
        sample = self.sample(device, index)
        then, now = self.held_since(sample, index) if sample else (0, 0)
        return max(sample.free + then - now, 0) if sample else None

    def card_source(self, device, index):
        sample = self.sample(device, index)
        then, now = self.held_since(sample, index) if sample else (0, 0)
        return sample and ("cuMemGetInfo" if then == now else "cuMemGetInfo and the calls since")

    def held_since(self, sample, index):
        """Returns [bytes of the card that this process held when the sample was taken, bytes that it holds at the
        event]."""
        told = min(self.books.told.get(sample.index, sample.index), index)
        return [
            self.driver_parts((sample.device, "device", 0), when)[0]
            + sum(block.size for block in self.live_blocks((sample.device, "context", 0), when))
            for when in (told, index)
        ]

    def fragmentation(self, account, at):
        index = self.moment(at, account)
        empty = dict.fromkeys(
            (
                "reserved_bytes",
                "live_bytes",
                "free_bytes",
                "largest_free_bytes",
                "external_ratio",
                "stranded_bytes",
                "graph_idle_bytes",
                "device_free_bytes",
                "device_free_source",
            )
        )
        row = {**self.layer(account), "at": at, **self.stamp(index), **empty, "estimated": account[1] == "device"}
        if index is not None:
            row |= {**self.frag(account, index), "device_free_bytes": self.card_free(account[0], index)}
            row["device_free_source"] = self.card_source(account[0], index)
            graphs = self.pool_parts(account, index)[3] if account[1] == "pool" else 0
            row["graph_idle_bytes"] = None if row["reserved_bytes"] is None else graphs
        return row

    def segments(self, account, index):
        if account[1] != "pool" or index is None:
            return None if account[1] != "pool" else []
        held = [
            r
            for r in self.books.ranges
            if r.pool_account == account and r.begin <= index and (r.end is None or r.end > index)
        ]
        of_graph = {r: self.graphs.is_of_graph(r, index) for r in held}
        whole = [
            (a, b, True, owned)
            for owned in (False, True)
            for a, b in join((r.address, r.address + r.size) for r in held if r.physical and of_graph[r] == owned)
        ]
        whole += [(r.address, r.address + r.size, False, of_graph[r]) for r in held if not r.physical]
        rows = []
        for start, end, mapped, owned in sorted(whole):
            inside = [block for block in self.live_blocks(account, index) if start <= block.address < end]
            live = sum(block.size for block in inside)
            rows.append(
                {
                    "address": start,
                    "size_bytes": end - start,
                    "live_bytes": live,
                    "free_bytes": max(end - start - live, 0),
                    "largest_free_bytes": Holes(
                        [(start, end)], [(b.address, b.address + b.size) for b in inside]
                    ).largest,
                    "mapped": mapped,
                    "of_graph": owned,
                    "blocks": [
                        {"address": b.address, "size_bytes": b.size, "forward_stack_id": self.forward.get(b.begin)}
                        for b in inside
                    ],
                }
            )
        return rows

    def frag_page(self, at, samples):
        devices = []
        for device in self.devices:
            account = self.leading(device)
            cuts = [self.books.count * i // samples - 1 for i in range(samples + 1)]
            when = [cuts[i] for i in range(1, samples + 1) if cuts[i] != cuts[i - 1]]
            failed = [self.failures.list[number] for number in self.shown_failures()]
            devices.append(
                {
                    "device": device,
                    "segments": self.segments(account, self.moment(at, account)),
                    "streams": streams(self, account, self.moment(at, account)),
                    "pinned_by": pinned_by(self, account, self.moment(at, account)),
                    "fragmentation": self.fragmentation(account, at),
                    "at_failures": [
                        {**self.layer(account), **self.stamp(i), **self.frag(account, i)}
                        for i in (one.event.index for one in failed if one.account[0] == device)
                    ],
                    "over_time": [{**self.layer(account), **self.stamp(i), **self.frag(account, i)} for i in when],
                }
            )
        return {"devices": devices}
