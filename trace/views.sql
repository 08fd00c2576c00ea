-- Views for common questions asked by hand. The analyzer does not use them.

-- Every event with names instead of numbers.
CREATE VIEW events AS
SELECT event.seq, event.time_ns, event_kind.name AS kind, hook.name AS api,
       memory_kind.name AS memory, memory_kind.account, event.device, event.address,
       event.size_bytes, event.object, event.stream, event.result,
       thread.name AS thread, event.stack_id
FROM event
JOIN event_kind USING (kind)
JOIN memory_kind USING (memory)
LEFT JOIN hook USING (hook_id)
LEFT JOIN thread USING (thread_id);

-- Successful allocations. Reserving an address range is not an allocation.
CREATE VIEW allocations AS
SELECT seq, time_ns, device, api, memory, account, address, size_bytes, stack_id
FROM events WHERE kind = 'alloc' AND result = 0 AND account <> 'none';

-- Failed allocations, with the requested size.
CREATE VIEW failures AS
SELECT seq, time_ns, device, api, memory, size_bytes, result, stack_id
FROM events WHERE kind = 'alloc' AND result <> 0 AND account <> 'none';

-- Events inside another call, with the event of that call. It comes after them if the call allocates,
-- and before them if it frees.
CREATE VIEW nested_events AS
WITH calls AS (
    SELECT seq, nested,
           max(CASE nested WHEN 0 THEN seq END) OVER (call ROWS UNBOUNDED PRECEDING) AS before,
           min(CASE nested WHEN 0 THEN seq END)
               OVER (call ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS behind
    FROM event WHERE call_id <> 0
    WINDOW call AS (PARTITION BY thread_id, call_id ORDER BY seq))
SELECT events.seq, events.kind, events.api, events.object, events.device,
       parent.seq AS parent_seq, parent.api AS parent_api
FROM calls
JOIN events USING (seq)
LEFT JOIN events AS parent
    ON parent.seq = CASE WHEN behind IS NULL OR calls.seq - before < behind - calls.seq
                         THEN before ELSE behind END
WHERE calls.nested = 1;

-- Native frames with their module; offset is the argument of addr2line -e.
CREATE VIEW native_frames AS
SELECT frame.frame_id, frame.parent_id, frame.address, module.path, module.build_id,
       frame.address - module.load_address AS offset
FROM frame
LEFT JOIN module ON frame.address >= module.start_address AND frame.address < module.end_address
WHERE frame.kind = 0;

-- Python frames with names.
CREATE VIEW python_frames AS
SELECT frame.frame_id, frame.parent_id, function.text AS function, file.text AS file, location.line
FROM frame
JOIN location ON location.location_id = frame.address
LEFT JOIN string AS function ON function.string_id = location.function_id
LEFT JOIN string AS file ON file.string_id = location.file_id
WHERE frame.kind = 1;

-- Every frame with its name. A native frame has one row for each inlined call, innermost first, or one
-- row without a name if no symbol is known.
CREATE VIEW named_frames AS
SELECT frame_id, parent_id, 'python' AS kind, 0 AS level, function, file, line FROM python_frames
UNION ALL
SELECT frame.frame_id, frame.parent_id, 'label', 0, string.text, NULL, NULL
FROM frame LEFT JOIN string ON string.string_id = frame.address
WHERE frame.kind = 2
UNION ALL
SELECT frame.frame_id, frame.parent_id, 'native', symbol.level, function.text, file.text, symbol.line
FROM frame
LEFT JOIN symbol ON symbol.address = frame.address
LEFT JOIN string AS function ON function.string_id = symbol.function_id
LEFT JOIN string AS file ON file.string_id = symbol.file_id
WHERE frame.kind = 0;

-- Blocks of memory by address, each with the event that ended it: its free, or an allocation that got
-- the same address although no free was recorded; NULL: the block lived to the exit. The view leaves
-- out virtual memory, modules, limits and frees by a context's end, which need the analyzer.
CREATE VIEW blocks AS
WITH counted AS (
    SELECT event.*, memory_kind.name AS memory_name, memory_kind.account,
           CASE WHEN memory_kind.account = 'pool' THEN 'pool ' || event.object
                WHEN memory_kind.name IN ('array', 'mapped array') THEN 'array'
                WHEN memory_kind.account = 'host' THEN 'host'
                ELSE 'device' END AS space
    FROM event
    JOIN event_kind USING (kind)
    JOIN memory_kind USING (memory)
    WHERE event_kind.name IN ('alloc', 'free') AND event.result = 0 AND event.address <> 0
      AND memory_kind.account IN ('device', 'managed', 'host', 'imported', 'pool')
      AND memory_kind.name NOT LIKE 'virtual%' AND memory_kind.name <> 'imported virtual'
      AND event.seq <= coalesce((SELECT value FROM meta WHERE key = 'exit_seq'), event.seq)),
paired AS (
    SELECT counted.*, lead(seq) OVER place AS end_seq, lead(time_ns) OVER place AS end_ns
    FROM counted WINDOW place AS (PARTITION BY space, address ORDER BY seq))
SELECT paired.seq, time_ns, device, memory_name AS memory, account, address, size_bytes, stack_id, end_seq,
       end_ns
FROM paired JOIN event_kind USING (kind) WHERE event_kind.name = 'alloc';

-- Live bytes right after each birth and end of a block, by device and account.
CREATE VIEW live_bytes AS
WITH changes AS (
    SELECT seq, time_ns, device, account, size_bytes AS change FROM blocks
    UNION ALL
    SELECT end_seq, end_ns, device, account, -size_bytes FROM blocks WHERE end_seq IS NOT NULL)
SELECT seq, time_ns, device, account, change,
       sum(change) OVER (PARTITION BY device, account ORDER BY seq, change
                         ROWS UNBOUNDED PRECEDING) AS live_bytes
FROM changes;

-- Live bytes at the exit, by call stack.
CREATE VIEW live_at_exit AS
SELECT device, account, stack_id, sum(size_bytes) AS bytes, count(*) AS blocks
FROM blocks WHERE end_seq IS NULL GROUP BY device, account, stack_id;

-- Calls by API: how many succeeded and failed, and the bytes that they allocated.
CREATE VIEW calls AS
SELECT api, kind, sum(result = 0) AS succeeded, sum(result <> 0) AS failed,
       sum(CASE WHEN kind = 'alloc' AND result = 0 THEN size_bytes ELSE 0 END) AS allocated_bytes
FROM events WHERE kind IN ('alloc', 'free') GROUP BY api, kind;

-- Phases, marked by ranges: each with its beginning and end (NULL: it was left open), the thread that
-- began it, and the NVTX domain of its range unless that is the default one.
CREATE VIEW phases AS
WITH marks AS (
    SELECT event.*, event_kind.name = 'phase-push' AS begins,
           CASE WHEN address <> 0 THEN NULL ELSE thread_id END AS own_thread
    FROM event JOIN event_kind USING (kind) WHERE event_kind.name IN ('phase-push', 'phase-pop')),
deep AS (
    SELECT marks.*,
           sum(CASE WHEN begins THEN 1 ELSE -1 END)
               OVER (PARTITION BY own_thread, size_bytes, address ORDER BY seq ROWS UNBOUNDED PRECEDING)
               + (CASE WHEN begins THEN 0 ELSE 1 END) AS depth
    FROM marks),
paired AS (
    SELECT deep.*, lead(seq) OVER level AS end_seq, lead(time_ns) OVER level AS end_ns
    FROM deep WINDOW level AS (PARTITION BY own_thread, size_bytes, address, depth ORDER BY seq))
SELECT paired.seq, end_seq, time_ns, end_ns, name.text AS name,
       CASE size_bytes WHEN 1 THEN 'nvtx' ELSE 'api' END AS source, domain.text AS domain, thread_id
FROM paired
LEFT JOIN string AS name ON name.string_id = object
LEFT JOIN string AS domain ON domain.string_id = stream
WHERE begins;

-- Storages and the Python variables that keep them alive, at each walk.
CREATE VIEW holders AS
SELECT walk.walk_id, walk.reason, walk.event_number, holder.address, holder.size_bytes, holder.kind,
       chain.text AS chain, holder.item, holder.items_count, function.text AS function,
       file.text AS file, location.line
FROM holder
JOIN walk USING (walk_id)
JOIN string AS chain ON chain.string_id = holder.chain_id
LEFT JOIN location USING (location_id)
LEFT JOIN string AS function ON function.string_id = location.function_id
LEFT JOIN string AS file ON file.string_id = location.file_id;
