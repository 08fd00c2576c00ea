-- Bytes of each category at the peak of each device of each rank.
SELECT rank, process, device, category, sum(bytes) AS bytes
FROM site
WHERE job = {job:String} AND run = {run:String} AND moment = 'peak'
  AND push GLOBAL IN (SELECT max(push) FROM push WHERE job = {job:String} AND run = {run:String} GROUP BY rank)
GROUP BY rank, process, device, category
ORDER BY rank, process, device, bytes DESC, category
