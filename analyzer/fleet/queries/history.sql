-- The runs of a job over weeks, the earliest first: highest peak of any device, median peak,
-- failures.
SELECT run, toString(toMonday(toDateTime(toUInt32(intDiv(first_unix_ns, 1000000000)), 'UTC'))) AS week, first_unix_ns, ranks,
       highest_bytes, median_bytes, refused, killed
FROM
(
    SELECT run, uniqExact(rank) AS ranks, max(peak_bytes) AS highest_bytes, quantileExactIf(0.5)(peak_bytes, peak_bytes > 0) AS median_bytes,
           sum(failed) AS refused
    FROM device
    WHERE job = {job:String} AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} GROUP BY run, rank)
    GROUP BY run
) AS peaks_of
ANY LEFT JOIN
(
    SELECT run, min(start_unix_ns) AS first_unix_ns, uniqExactIf(rank, ended = 'killed') AS killed
    FROM process
    WHERE job = {job:String} AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} GROUP BY run, rank)
    GROUP BY run
) AS starts_of
USING run
ORDER BY first_unix_ns, run
LIMIT 1000
