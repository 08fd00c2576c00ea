-- Growth per training step: devices with a leak first, then by growth. Each row names the site that
-- grows most.
SELECT rank, process, device, leak, steps, bytes_per_step, leak_bytes_per_step, site
FROM
(
    SELECT rank, process, device, leak, steps, ifNull(bytes_per_step, 0) AS bytes_per_step, leak_bytes_per_step FROM device
    WHERE job = {job:String} AND run = {run:String} AND (leak_bytes_per_step > 0 OR ifNull(bytes_per_step, 0) > 0)
      AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
) AS own
ANY LEFT JOIN
(
    SELECT rank, process, device, site FROM site
    WHERE job = {job:String} AND run = {run:String} AND moment = 'step' AND number = 0
      AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
) AS steepest
USING rank, process, device
ORDER BY leak_bytes_per_step DESC, bytes_per_step DESC, rank, process, device
LIMIT 1000
