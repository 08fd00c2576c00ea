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

-- Successful allocations. Reserving an address range is none.
CREATE VIEW allocations AS
SELECT seq, time_ns, device, api, memory, account, address, size_bytes, stack_id
FROM events WHERE kind = 'alloc' AND result = 0 AND account <> 'none';

-- Failed allocations, with the size that was asked for.
CREATE VIEW failures AS
SELECT seq, time_ns, device, api, memory, size_bytes, result, stack_id
FROM events WHERE kind = 'alloc' AND result <> 0 AND account <> 'none';

-- Events inside another call, with the event of that call, which follows them for an allocation and
-- precedes them for a free.
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

-- Native frames with the module they lie in; offset is the argument of addr2line -e.
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

-- Every frame with its name. A native frame has one row for each inlined call, innermost first; if no
-- symbol is known, one row without a name.
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
