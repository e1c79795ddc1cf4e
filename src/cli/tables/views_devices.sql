-- The reports about device activities and about operations, as views: see views.sql.

CREATE VIEW report_timeline AS
SELECT duration_ns AS time_ns, device, name AS activity, a.begin_ns - r.begin_ns AS begin_ns,
       thread, scope, stream, correlation, launch, bytes
FROM activities a CROSS JOIN recording r ORDER BY id;

CREATE VIEW report_activities AS
SELECT sum(duration_ns) AS total_time_ns, count(*) AS count, name AS activity
FROM activities GROUP BY name ORDER BY min(id);

CREATE VIEW report_devices AS
SELECT sum(duration_ns) AS total_time_ns, count(*) AS count, device
FROM activities GROUP BY device ORDER BY min(id);

CREATE VIEW report_kernels AS
WITH one AS (
    SELECT id, name, duration_ns, row_number() OVER (PARTITION BY name ORDER BY duration_ns) AS rank,
           count(*) OVER (PARTITION BY name) AS n
    FROM device_activities WHERE kind IN ('kernel', 'builtin')
), timed AS (
    SELECT name, n, sum(duration_ns) AS total_ns, CAST(round(avg(duration_ns)) AS INTEGER) AS avg_ns,
           CAST(round(avg(CASE WHEN rank IN ((n + 1) / 2, n / 2 + 1) THEN duration_ns END)) AS INTEGER)
               AS median_ns,
           max(CASE WHEN n >= 100 AND rank = (n * 99 + 99) / 100 THEN duration_ns END) AS p99_ns,
           min(duration_ns) AS min_ns, max(duration_ns) AS max_ns, min(id) AS first
    FROM one GROUP BY name
), named AS (
    SELECT name, CASE WHEN min(full_name) = max(full_name) THEN min(full_name) END AS full_name
    FROM device_activities WHERE kind IN ('kernel', 'builtin') GROUP BY name
), launch AS ( -- every launch shape of a kernel
    SELECT DISTINCT name, grid_x || ',' || grid_y || ',' || grid_z AS grid,
           block_x || ',' || block_y || ',' || block_z AS block,
           coalesce(cluster_x || ',' || cluster_y || ',' || cluster_z, '') AS cluster,
           registers, static_shared_bytes, dynamic_shared_bytes, local_bytes,
           coalesce(occupancy, 0) AS occupancy, limited_by
    FROM device_activities WHERE kind IN ('kernel', 'builtin') AND grid_x
), shape AS ( -- the values that all shapes share
    SELECT name,
           CASE WHEN min(grid) = max(grid) THEN min(grid) ELSE 'varies' END AS grid,
           CASE WHEN min(block) = max(block) THEN min(block) ELSE 'varies' END AS block,
           CASE WHEN min(cluster) = max(cluster) THEN nullif(min(cluster), '') ELSE 'varies' END
               AS cluster,
           CASE WHEN min(registers) = max(registers) THEN min(registers) END AS registers,
           CASE WHEN min(static_shared_bytes) = max(static_shared_bytes)
                THEN min(static_shared_bytes) END AS static_shared_bytes,
           CASE WHEN min(dynamic_shared_bytes) = max(dynamic_shared_bytes)
                THEN min(dynamic_shared_bytes) END AS dynamic_shared_bytes,
           CASE WHEN min(local_bytes) = max(local_bytes) THEN min(local_bytes) END AS local_bytes,
           CASE WHEN min(occupancy) = max(occupancy) AND count(DISTINCT limited_by) <= 1
                THEN nullif(100 * min(occupancy), 0) END AS occupancy_percent,
           CASE WHEN min(occupancy) = max(occupancy) AND count(DISTINCT limited_by) <= 1
                THEN min(limited_by) END AS limited_by
    FROM launch GROUP BY name
)
SELECT name, n AS count, coalesce(100.0 * total_ns / sum(total_ns) OVER (), 0) AS total_percent,
       total_ns, avg_ns, median_ns, p99_ns, min_ns, max_ns, full_name, grid, block, cluster,
       registers, static_shared_bytes, dynamic_shared_bytes, local_bytes, occupancy_percent,
       limited_by
FROM timed LEFT JOIN named USING (name) LEFT JOIN shape USING (name)
ORDER BY total_ns DESC, first;

-- The operation that a path's time counts for: the innermost enclosing scope with declared work or
-- activity of the host. Within declared work only copies and sets are operations of their own.
CREATE VIEW operation_of_path AS
WITH RECURSIVE node AS (
    SELECT path AS id, total(flops) > 0 OR total(bytes) > 0 AS has_work
    FROM spans WHERE path IS NOT NULL GROUP BY path
), place AS (
    SELECT id, parent, coalesce(has_work, 0) AS has_work, activity_kind IS NOT NULL AS is_activity,
           coalesce(activity_kind IN ('memcpy', 'memset'), 0) AS is_copy
    FROM paths LEFT JOIN node USING (id)
), down(path, owner, is_in_work) AS (
    SELECT id, CASE WHEN has_work OR is_activity THEN id END, has_work
    FROM place WHERE parent IS NULL
    UNION ALL
    SELECT p.id, CASE WHEN has_work OR is_copy OR (is_activity AND NOT is_in_work) THEN p.id
                      ELSE owner END,
           CASE WHEN has_work OR is_copy OR (is_activity AND NOT is_in_work) THEN has_work
                ELSE is_in_work END
    FROM down JOIN place p ON p.parent = down.path
)
SELECT path, owner FROM down;

CREATE VIEW report_ops AS
WITH owner AS (
    SELECT path, owner FROM operation_of_path
), host AS ( -- a scope's self_ns already contains its calls into CUDA
    SELECT o.owner, sum(s.self_ns) AS self_ns, sum(o.path = o.owner) AS calls,
           total(CASE WHEN o.path = o.owner THEN s.flops END) AS flops,
           total(CASE WHEN o.path = o.owner THEN s.bytes END) AS bytes
    FROM spans s JOIN owner o ON o.path = s.path WHERE s.kind <> 'call' GROUP BY o.owner
), device AS (
    SELECT a.device, a.name, a.kind, a.copy_kind, o.owner, count(*) AS calls,
           sum(a.duration_ns) AS self_ns, total(a.bytes) AS bytes, min(a.id) AS first
    FROM device_activities a LEFT JOIN spans s ON s.id = a.scope_span
         LEFT JOIN owner o ON o.path = s.path AND a.kind NOT IN ('memcpy', 'memset')
    GROUP BY a.device, a.name, a.kind, a.copy_kind, o.owner
), host_peak AS (
    SELECT max(CASE key WHEN 'host_peak_flops' THEN value END) AS flops,
           max(CASE key WHEN 'host_peak_bandwidth' THEN value END) AS bandwidth
    FROM facts
), part AS (
    -- activities not launched by a scope with declared work; copies and sets
    SELECT d.name AS operation, d.kind AS type, 1 AS on_device, d.calls, d.self_ns, NULL AS flops,
           CASE WHEN d.kind IN ('memcpy', 'memset') THEN d.bytes END AS bytes,
           CASE WHEN d.kind = 'memset' THEN d.bytes WHEN d.kind <> 'memcpy' THEN NULL
                WHEN d.copy_kind = 'DtoD' THEN 2 * d.bytes ELSE -1 END AS memory_bytes,
           coalesce(peak_flops, 0) AS peak_flops, coalesce(peak_bandwidth, 0) AS peak_bandwidth,
           d.first AS position
    FROM device d LEFT JOIN devices USING (device) WHERE d.owner IS NULL
    UNION ALL -- activities launched by such a scope
    SELECT p.name, coalesce(p.activity_kind, 'scope'), 1, 0, d.self_ns, NULL, NULL, NULL,
           coalesce(peak_flops, 0), coalesce(peak_bandwidth, 0), d.first
    FROM device d JOIN paths p ON p.id = d.owner LEFT JOIN devices USING (device)
    UNION ALL -- the scope itself
    SELECT p.name, coalesce(p.activity_kind, 'scope'), d.owner IS NOT NULL, h.calls,
           CASE WHEN d.owner IS NULL THEN h.self_ns ELSE 0 END, h.flops, h.bytes, h.bytes,
           CASE WHEN d.owner IS NULL THEN k.flops END, CASE WHEN d.owner IS NULL THEN k.bandwidth END,
           (1 << 40) + p.id
    FROM host h JOIN paths p ON p.id = h.owner CROSS JOIN host_peak k
         LEFT JOIN (SELECT DISTINCT owner FROM device WHERE owner IS NOT NULL) d
                   ON d.owner = h.owner
), op AS (
    SELECT operation, type, on_device, sum(calls) AS count, sum(self_ns) AS self_ns,
           nullif(total(flops), 0) AS flops, nullif(total(bytes), 0) AS bytes,
           CASE WHEN min(memory_bytes) >= 0 THEN sum(memory_bytes)
                WHEN min(memory_bytes) IS NULL THEN 0 END AS memory_bytes,
           CASE WHEN min(peak_flops) = max(peak_flops) AND min(peak_bandwidth) = max(peak_bandwidth)
                THEN nullif(min(peak_flops), 0) END AS peak_flops,
           CASE WHEN min(peak_flops) = max(peak_flops) AND min(peak_bandwidth) = max(peak_bandwidth)
                THEN nullif(min(peak_bandwidth), 0) END AS peak_bandwidth,
           min(position) AS position
    FROM part GROUP BY operation, type, on_device HAVING sum(calls) > 0 OR sum(self_ns) > 0
), rate AS (
    SELECT *, 1e9 * bytes / nullif(self_ns, 0) AS bytes_per_second,
           1e9 * flops / nullif(self_ns, 0) AS flops_per_second,
           100 * (1e9 * nullif(memory_bytes, 0) / nullif(self_ns, 0)) / peak_bandwidth AS memory,
           100 * (1e9 * flops / nullif(self_ns, 0)) / peak_flops AS compute
    FROM op
)
SELECT operation, type, CASE WHEN on_device THEN 'device' ELSE 'host' END AS "where", count,
       self_ns AS self_time_ns,
       CASE WHEN count THEN CAST(round(1.0 * self_ns / count) AS INTEGER) ELSE 0 END
           AS avg_self_time_ns,
       CASE WHEN on_device THEN 100.0 * self_ns / (SELECT sum(duration_ns) FROM device_activities)
       END AS device_percent,
       CASE WHEN NOT on_device
            THEN 100.0 * self_ns / (SELECT sum(self_ns) FROM spans WHERE path AND kind <> 'call')
       END AS host_percent,
       flops, bytes, bytes_per_second, min(100, memory) AS memory_peak_percent,
       memory AS memory_peak_uncapped_percent, flops_per_second,
       min(100, compute) AS flops_peak_percent, compute AS flops_peak_uncapped_percent,
       CASE WHEN CASE WHEN flops THEN compute ELSE 0 END
                 > CASE WHEN memory_bytes = 0 THEN 0 ELSE memory END THEN 'compute'
            WHEN memory > 0 AND memory >= CASE WHEN flops THEN compute ELSE 0 END THEN 'memory' END
           AS bound_by
FROM rate ORDER BY self_ns DESC, position;
