-- Views for the common questions asked by hand. The analyzer does not use them.

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

-- Allocations that succeeded.
CREATE VIEW allocations AS
SELECT seq, time_ns, device, api, memory, account, address, size_bytes, stack_id
FROM events WHERE kind = 'alloc' AND result = 0;

-- Allocations that failed, with what was asked.
CREATE VIEW failures AS
SELECT seq, time_ns, device, api, memory, size_bytes, result, stack_id
FROM events WHERE kind = 'alloc' AND result <> 0;

-- Native frames with the module they lie in; offset is what addr2line -e wants.
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
