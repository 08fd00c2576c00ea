-- Hosts: the number of ranks, the peaks of their devices, failed allocations and killed processes.
SELECT host, uniqExact(rank) AS ranks, count() AS devices, max(peak_bytes) AS highest_bytes, min(peak_bytes) AS lowest_bytes,
       tupleElement(arraySort(groupArray((-toInt64(peak_bytes), rank)))[1], 2) AS highest_rank,
       sum(driver_peak_bytes) AS driver_sum_bytes, sum(failed) AS refused, uniqExactIf(rank, ended = 'killed') AS killed
FROM
(
    SELECT rank, process, device, peak_bytes, driver_peak_bytes, failed FROM device
    WHERE job = {job:String} AND run = {run:String}
      AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
) AS own
ANY LEFT JOIN
(
    SELECT rank, process, host, ended FROM process
    WHERE job = {job:String} AND run = {run:String}
      AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
) AS host_of
USING rank, process
GROUP BY host
ORDER BY highest_bytes DESC, host
