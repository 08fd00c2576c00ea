-- Failed allocations of all ranks, ordered by the clocks of their hosts. The first one is the
-- failure that the job hit first.
SELECT rank, process, device, number, layer, unix_ns, time_ns, phase, asked_bytes, live_bytes, verdict, kind, site, explanation
FROM failure
WHERE job = {job:String} AND run = {run:String}
  AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
ORDER BY unix_ns, rank, process, number
LIMIT 1000
