-- Each device of each rank of a run: its peak, the bytes live at exit, how the process ended.
SELECT rank, process, device, host, layer, uuid, name, total_bytes, peak_bytes, peak_time_ns, peak_phase, driver_peak_bytes,
       reserved_peak_bytes, live_at_exit_bytes, failed, leak, steps, bytes_per_step, leak_bytes_per_step, ended
FROM
(
    SELECT * FROM device
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
ORDER BY rank, process, device
