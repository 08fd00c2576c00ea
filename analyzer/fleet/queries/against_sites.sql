-- Compares two runs site by site: bytes at the peaks of all devices, divided by the number of
-- devices.
SELECT site, toUInt64(round(sum(own_bytes))) AS bytes, toUInt64(round(sum(their_bytes))) AS other_bytes,
       toInt64(round(sum(own_bytes))) - toInt64(round(sum(their_bytes))) AS more_bytes
FROM
(
    SELECT site, bytes / (SELECT greatest(count(), 1) FROM device
                          WHERE job = {job:String} AND run = {run:String} AND peak_bytes > 0
                            AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)) AS own_bytes,
           toFloat64(0) AS their_bytes
    FROM site
    WHERE job = {job:String} AND run = {run:String} AND moment = 'peak'
      AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
    UNION ALL
    SELECT site, toFloat64(0) AS own_bytes,
           bytes / (SELECT greatest(count(), 1) FROM device
                    WHERE job = {other_job:String} AND run = {other_run:String} AND peak_bytes > 0
                      AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {other_job:String} AND run = {other_run:String} GROUP BY rank)) AS their_bytes
    FROM site
    WHERE job = {other_job:String} AND run = {other_run:String} AND moment = 'peak'
      AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {other_job:String} AND run = {other_run:String} GROUP BY rank)
)
GROUP BY site
HAVING more_bytes != 0
ORDER BY abs(more_bytes) DESC, site
LIMIT 40
