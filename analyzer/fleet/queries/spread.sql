-- Peaks of all devices of a run that had memory: number, lowest, median, highest, and the rank that
-- has the highest peak.
SELECT count() AS places, uniqExact(rank) AS ranks, min(peak_bytes) AS lowest_bytes, quantileExact(0.5)(peak_bytes) AS median_bytes,
       max(peak_bytes) AS highest_bytes, toUInt64(round(avg(peak_bytes))) AS mean_bytes,
       toUInt64(round(stddevPop(peak_bytes))) AS deviation_bytes, sum(peak_bytes) AS sum_bytes,
       tupleElement(arraySort(groupArray((-toInt64(peak_bytes), rank)))[1], 2) AS highest_rank,
       countIf(leak = 'leak') AS leaking
FROM device
WHERE job = {job:String} AND run = {run:String} AND peak_bytes > 0
  AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
