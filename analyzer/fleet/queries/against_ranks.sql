-- Compares two runs rank by rank: the peaks of this run and of the other, the largest change first.
SELECT rank, process, device, sum(own_bytes) AS peak_bytes, sum(their_bytes) AS other_peak_bytes,
       toInt64(sum(own_bytes)) - toInt64(sum(their_bytes)) AS more_bytes
FROM
(
    SELECT rank, process, device, peak_bytes AS own_bytes, toUInt64(0) AS their_bytes FROM device
    WHERE job = {job:String} AND run = {run:String}
      AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
    UNION ALL
    SELECT rank, process, device, toUInt64(0) AS own_bytes, peak_bytes AS their_bytes FROM device
    WHERE job = {other_job:String} AND run = {other_run:String}
      AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {other_job:String} AND run = {other_run:String} GROUP BY rank)
)
GROUP BY rank, process, device
ORDER BY abs(more_bytes) DESC, rank, process, device
LIMIT 1000
