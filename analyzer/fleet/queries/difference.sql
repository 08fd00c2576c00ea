-- Explains unusual peaks: compares each device whose peak differs by more than 2 % from the median,
-- site by site, with the lowest rank that has the median. Keeps the five largest differences.
SELECT rank, process, device, site, sum(own_bytes) AS bytes, sum(their_bytes) AS usual_bytes,
       toInt64(sum(own_bytes)) - toInt64(sum(their_bytes)) AS more_bytes
FROM
(
    SELECT rank, process, device, site, bytes AS own_bytes, toUInt64(0) AS their_bytes FROM site
    WHERE job = {job:String} AND run = {run:String} AND moment = 'peak'
      AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
      AND (rank, process, device) GLOBAL IN
      (
          SELECT rank, process, device FROM device
          WHERE job = {job:String} AND run = {run:String} AND peak_bytes > 0
            AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
            AND abs(toInt64(peak_bytes) - toInt64(
                (SELECT quantileExact(0.5)(peak_bytes) FROM device
                 WHERE job = {job:String} AND run = {run:String} AND peak_bytes > 0
                   AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)))) * 50
                > (SELECT quantileExact(0.5)(peak_bytes) FROM device
                   WHERE job = {job:String} AND run = {run:String} AND peak_bytes > 0
                     AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank))
      )
    UNION ALL
    SELECT rank, process, device, site, toUInt64(0) AS own_bytes, bytes AS their_bytes
    FROM
    (
        SELECT rank, process, device, 1 AS one FROM device
        WHERE job = {job:String} AND run = {run:String} AND peak_bytes > 0
          AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
          AND abs(toInt64(peak_bytes) - toInt64(
              (SELECT quantileExact(0.5)(peak_bytes) FROM device
               WHERE job = {job:String} AND run = {run:String} AND peak_bytes > 0
                 AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)))) * 50
              > (SELECT quantileExact(0.5)(peak_bytes) FROM device
                 WHERE job = {job:String} AND run = {run:String} AND peak_bytes > 0
                   AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank))
    ) AS others
    ALL INNER JOIN
    (
        SELECT site, bytes, 1 AS one FROM site
        WHERE job = {job:String} AND run = {run:String} AND moment = 'peak'
          AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
          AND (rank, process, device) GLOBAL IN
          (
              SELECT rank, process, device FROM device
              WHERE job = {job:String} AND run = {run:String}
                AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
                AND peak_bytes =
                (
                    SELECT quantileExact(0.5)(peak_bytes) FROM device
                    WHERE job = {job:String} AND run = {run:String} AND peak_bytes > 0
                      AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
                )
              ORDER BY rank, process, device
              LIMIT 1
          )
    ) AS usual
    USING one
)
GROUP BY rank, process, device, site
HAVING more_bytes != 0
ORDER BY rank, process, device, abs(more_bytes) DESC, site
LIMIT 5 BY rank, process, device
