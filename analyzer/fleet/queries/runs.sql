-- The 100 latest runs, the latest first. '' as job or run stands for all of them.
SELECT job, run, toString(toDate(toDateTime(toUInt32(intDiv(min(start_unix_ns), 1000000000)), 'UTC'))) AS first_day,
       min(start_unix_ns) AS first_unix_ns, uniqExact(rank) AS ranks
FROM process
WHERE push GLOBAL IN (SELECT max(push) FROM push GROUP BY job, run, rank)
  AND ({job:String} = '' OR job = {job:String}) AND ({run:String} = '' OR run = {run:String})
GROUP BY job, run
ORDER BY first_unix_ns DESC, job, run
LIMIT 100
