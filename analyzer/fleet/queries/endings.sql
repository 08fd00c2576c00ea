-- Processes that did not end by an exit, or that lost events.
SELECT rank, process, host, pid, ended, ended_why, ifNull(lost_events, 0) AS lost_events, events, start_unix_ns + duration_ns AS end_unix_ns
FROM process
WHERE job = {job:String} AND run = {run:String} AND (ended IN ('killed', 'recording') OR ifNull(lost_events, 0) > 0)
  AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
ORDER BY end_unix_ns, rank, process
LIMIT 1000
