-- Indexes, and the reports of `takt report` as views with the same rows, columns and numbers.
-- report_NAME_TABLE is a further table of the report NAME. docs/exports.md lists the omitted
-- columns. Means are rounded to whole nanoseconds, as in the reports.

-- Only the necessary indexes: spans and activities have many rows, and one index of them takes more
-- than half the time of inserting all rows.
CREATE INDEX paths_by_parent ON paths(parent);
CREATE INDEX args_by_span ON args(span);
CREATE INDEX activities_by_launch ON activities(launch_span) WHERE launch_span IS NOT NULL;

-- Begin and end of the recording, and the delay from which a launch counts as late: the uncertainty
-- of device times, but at most 20 us.
CREATE VIEW recording AS
SELECT max(CASE key WHEN 'begin_ns' THEN value END) AS begin_ns,
       max(CASE key WHEN 'end_ns' THEN value END) AS end_ns,
       min(CAST(max(CASE key WHEN 'device_uncertainty_ns' THEN value END) + 0.5 AS INTEGER),
           20000) AS uncertainty_ns
FROM facts;

CREATE VIEW device_activities AS SELECT * FROM activities WHERE device GLOB 'cuda:*';

-- Each path with itself and all enclosing paths.
CREATE VIEW paths_around AS
WITH RECURSIVE up(path, around) AS (
    SELECT id, id FROM paths
    UNION ALL
    SELECT up.path, paths.parent FROM up JOIN paths ON paths.id = up.around
    WHERE paths.parent IS NOT NULL
)
SELECT path, around FROM up;

-- Each path with the names of its enclosing scopes. Each name appears once, even with recursion;
-- is_own marks the innermost. A call into CUDA is not a scope.
CREATE VIEW names_around AS
WITH one AS (
    SELECT u.path, scope.name, scope.depth, max(scope.depth) OVER (PARTITION BY u.path) AS innermost
    FROM paths_around u JOIN paths scope ON scope.id = u.around WHERE NOT scope.is_call
)
SELECT path, name, max(depth = innermost) AS is_own, count(*) AS times FROM one GROUP BY path, name;

-- ---- Time of the host ---------------------------------------------------------------------------

-- Spans with the time of those that the recording has not cut.
CREATE VIEW measured_spans AS
SELECT *, CASE WHEN NOT begun_before AND NOT unfinished THEN duration_ns END AS whole_ns FROM spans;

CREATE VIEW report_scopes AS
WITH host AS (
    SELECT paths.name, count(*) AS calls, sum(self_ns) AS self_ns,
           sum(CASE WHEN is_recursive THEN 0 ELSE duration_ns END) AS total_ns,
           nullif(sum(begun_before OR unfinished), 0) AS pieces, avg(whole_ns) AS mean_ns,
           min(whole_ns) AS min_ns, max(whole_ns) AS max_ns, total(flops) AS flops,
           min(spans.id) AS first
    FROM measured_spans spans JOIN paths ON paths.id = spans.path WHERE NOT is_call GROUP BY paths.name
), thread AS (
    SELECT paths.name, sum(CASE WHEN is_recursive THEN 0 ELSE duration_ns END) AS ns
    FROM spans JOIN paths ON paths.id = spans.path WHERE NOT is_call GROUP BY paths.name, track
), spread AS (
    SELECT name, count(*) AS threads, CASE WHEN count(*) > 1 THEN min(ns) END AS min_ns,
           CASE WHEN count(*) > 1 THEN sum(ns) END AS sum_ns,
           CASE WHEN count(*) > 1 THEN max(ns) END AS max_ns
    FROM thread GROUP BY name
), launched AS (
    SELECT n.name, n.times, a.begin_ns, a.end_ns, CASE WHEN n.is_own THEN a.duration_ns ELSE 0 END AS self_ns,
           max(a.end_ns) OVER (PARTITION BY n.name ORDER BY a.begin_ns
                               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
    FROM device_activities a JOIN spans s ON s.id = a.scope_span
         CROSS JOIN names_around n ON n.path = s.path
), device AS (
    SELECT name, sum(end_ns - begin_ns) AS total_ns, sum(self_ns) AS self_ns,
           sum(times * (end_ns - begin_ns)) AS sum_ns,
           sum(max(0, end_ns - max(begin_ns, coalesce(until_ns, 0)))) AS busy_ns
    FROM launched GROUP BY name
), allocated AS (
    SELECT n.name,
           sum(CASE WHEN m.device = 'host' OR m.kind = 'pinned' THEN m.bytes ELSE 0 END) AS host_bytes,
           sum(CASE WHEN (m.device = 'host' OR m.kind = 'pinned') AND n.is_own THEN m.bytes ELSE 0 END)
               AS host_self_bytes,
           sum(CASE WHEN m.device <> 'host' AND m.kind IS NOT 'pinned' THEN m.bytes ELSE 0 END)
               AS device_bytes,
           sum(CASE WHEN m.device <> 'host' AND m.kind IS NOT 'pinned' AND n.is_own THEN m.bytes
                    ELSE 0 END)
               AS device_self_bytes
    FROM memory m JOIN spans s ON s.id = m.span CROSS JOIN names_around n ON n.path = s.path
    WHERE NOT m.is_pool GROUP BY n.name
), whole AS (
    SELECT (SELECT sum(self_ns) FROM host) AS host_ns,
           (SELECT sum(duration_ns) FROM device_activities) AS device_ns
)
SELECT host.name, coalesce(100.0 * host.self_ns / host_ns, 0) AS self_cpu_percent,
       host.self_ns AS self_cpu_ns,
       coalesce(100.0 * host.total_ns / host_ns, 0) AS cpu_total_percent,
       host.total_ns AS cpu_total_ns,
       CAST(round(host.mean_ns) AS INTEGER) AS cpu_time_avg_ns,
       coalesce(device.self_ns, 0) AS self_cuda_ns,
       coalesce(100.0 * device.self_ns / device_ns, 0) AS self_cuda_percent,
       coalesce(device.total_ns, 0) AS cuda_total_ns,
       CAST(round(1.0 * coalesce(device.sum_ns, 0) / calls) AS INTEGER) AS cuda_time_avg_ns,
       coalesce(busy_ns, 0) AS cuda_busy_ns,
       coalesce(host_bytes, 0) AS cpu_memory_bytes,
       coalesce(host_self_bytes, 0) AS self_cpu_memory_bytes,
       coalesce(device_bytes, 0) AS cuda_memory_bytes,
       coalesce(device_self_bytes, 0) AS self_cuda_memory_bytes, calls, pieces,
       host.min_ns AS cpu_time_min_ns, host.max_ns AS cpu_time_max_ns, threads,
       spread.min_ns AS thread_min_ns,
       CAST(round(1.0 * spread.sum_ns / threads) AS INTEGER) AS thread_mean_ns,
       spread.max_ns AS thread_max_ns,
       1.0 * spread.max_ns * threads / nullif(spread.sum_ns, 0) AS thread_imbalance,
       nullif(flops, 0) AS flops, first AS first_span
FROM host CROSS JOIN whole JOIN spread ON spread.name = host.name
     LEFT JOIN device ON device.name = host.name
     LEFT JOIN allocated ON allocated.name = host.name
ORDER BY host.total_ns DESC, first;

CREATE VIEW report_tree AS
WITH RECURSIVE hung(id, above, scope) AS ( -- omits calls; their content moves up to the scope
    SELECT id, NULL, CASE WHEN NOT is_call THEN id END FROM paths WHERE parent IS NULL
    UNION ALL
    SELECT p.id, h.scope, CASE WHEN NOT is_call THEN p.id ELSE h.scope END
    FROM hung h JOIN paths p ON p.parent = h.id
), one AS (
    SELECT path, duration_ns, self_ns, whole_ns,
           row_number() OVER (PARTITION BY path, whole_ns IS NULL ORDER BY duration_ns) AS rank,
           count(whole_ns) OVER (PARTITION BY path) AS n
    FROM measured_spans WHERE path IS NOT NULL
), host AS (
    SELECT path, count(*) AS calls, nullif(count(*) - n, 0) AS pieces, sum(duration_ns) AS total_ns,
           sum(self_ns) AS self_ns, CAST(round(avg(whole_ns)) AS INTEGER) AS mean_ns,
           min(whole_ns) AS min_ns, max(whole_ns) AS max_ns,
           CAST(round(avg(CASE WHEN rank IN ((n + 1) / 2, n / 2 + 1) THEN whole_ns END)) AS INTEGER)
               AS median_ns,
           max(CASE WHEN n >= 100 AND rank = (n * 99 + 99) / 100 THEN whole_ns END) AS p99_ns
    FROM one GROUP BY path
), launched AS (
    SELECT s.path, sum(a.duration_ns) AS ns
    FROM device_activities a JOIN spans s ON s.id = a.scope_span GROUP BY s.path
), device AS (
    SELECT around AS path, sum(ns) AS total_ns, sum(CASE WHEN path = around THEN ns END) AS self_ns
    FROM launched JOIN paths_around USING (path) GROUP BY around
), node AS (
    SELECT id, above AS parent, name, calls, pieces, host.total_ns, host.self_ns, mean_ns, median_ns, p99_ns, min_ns, max_ns,
           coalesce(device.total_ns, 0) AS device_ns, coalesce(device.self_ns, 0) AS device_self_ns
    FROM paths JOIN hung USING (id) JOIN host ON host.path = id
         LEFT JOIN device ON device.path = id
    WHERE NOT is_call
), walk(id, depth, total_ns) AS ( -- deepest first, then longest
    SELECT id, 0, total_ns FROM node WHERE parent IS NULL
    UNION ALL
    SELECT node.id, depth + 1, node.total_ns FROM walk JOIN node ON node.parent = walk.id
    ORDER BY 2 DESC, 3 DESC, 1
), place AS (
    SELECT *, row_number() OVER () AS position FROM walk
), whole AS (
    SELECT (SELECT sum(self_ns) FROM node) AS host_ns,
           (SELECT sum(duration_ns) FROM device_activities) AS device_ns
)
SELECT name, depth, calls, pieces, coalesce(100.0 * node.total_ns / host_ns, 0) AS cpu_total_percent,
       node.total_ns AS cpu_total_ns, coalesce(100.0 * self_ns / host_ns, 0) AS self_cpu_percent,
       self_ns AS self_cpu_ns, mean_ns AS cpu_time_avg_ns,
       median_ns AS cpu_time_median_ns, p99_ns AS cpu_time_p99_ns, min_ns AS cpu_time_min_ns,
       max_ns AS cpu_time_max_ns, node.device_ns AS cuda_total_ns,
       coalesce(100.0 * node.device_ns / whole.device_ns, 0) AS cuda_total_percent,
       device_self_ns AS self_cuda_ns, node.id AS path
FROM place JOIN node ON node.id = place.id CROSS JOIN whole ORDER BY position;

CREATE VIEW report_steps AS
WITH one AS (
    SELECT duration_ns, row_number() OVER (ORDER BY duration_ns) AS rank, count(*) OVER () AS n
    FROM steps
), span AS (
    SELECT count(*) AS n, sum(duration_ns) AS ns, min(begin_ns) AS begin_ns, max(end_ns) AS end_ns
    FROM steps
), fact AS (
    SELECT max(CASE key WHEN 'all_steps_count' THEN value END) AS n,
           max(CASE key WHEN 'all_steps_total_ns' THEN value END) AS total_ns,
           max(CASE key WHEN 'all_steps_min_ns' THEN value END) AS min_ns,
           max(CASE key WHEN 'all_steps_median_ns' THEN value END) AS median_ns,
           max(CASE key WHEN 'all_steps_p99_ns' THEN value END) AS p99_ns,
           max(CASE key WHEN 'all_steps_max_ns' THEN value END) AS max_ns,
           max(CASE key WHEN 'simulated_seconds_per_step' THEN value END) AS simulated
    FROM facts
), device AS ( -- includes activities with an unknown launch
    SELECT sum(duration_ns) AS ns FROM device_activities CROSS JOIN span
    WHERE launch_span IS NULL OR (launch_begin_ns >= span.begin_ns AND launch_begin_ns < span.end_ns)
), busy AS (
    SELECT count(*) AS devices, sum(unknown_ns) AS unknown_ns,
           CASE WHEN count(busy_ns) = count(*) THEN sum(busy_ns) END AS ns
    FROM busy_in_steps
)
SELECT 'recorded' AS steps, one.n AS count, CAST(round(avg(duration_ns)) AS INTEGER) AS mean_ns,
       CAST(round(avg(CASE WHEN rank IN ((one.n + 1) / 2, one.n / 2 + 1) THEN duration_ns END))
            AS INTEGER) AS median_ns,
       max(CASE WHEN one.n >= 100 AND rank = (one.n * 99 + 99) / 100 THEN duration_ns END) AS p99_ns,
       max(duration_ns) AS max_ns, min(duration_ns) AS min_ns,
       1e9 / avg(duration_ns) AS steps_per_second,
       simulated * 1e9 / avg(duration_ns) AS realtime_factor,
       CASE WHEN devices THEN CAST(round(1.0 * coalesce(device.ns, 0) / one.n) AS INTEGER) END
           AS cuda_time_ns,
       100.0 * busy.ns / nullif(span.ns * devices - busy.unknown_ns, 0) AS cuda_busy_percent
FROM one CROSS JOIN span CROSS JOIN fact CROSS JOIN device CROSS JOIN busy GROUP BY one.n
UNION ALL
SELECT 'all', n, CAST(round(1.0 * total_ns / n) AS INTEGER), median_ns,
       CASE WHEN n >= 100 THEN p99_ns END, max_ns, min_ns,
       1e9 * n / total_ns, simulated * 1e9 * n / total_ns, NULL, NULL
FROM fact WHERE n > 0;

CREATE VIEW report_steps_slowest AS
SELECT step, slow.duration_ns, 1.0 * slow.duration_ns / steps.median_ns AS times_median, recorded
FROM slowest_steps slow JOIN report_steps steps ON steps.steps = 'all'
WHERE steps.count > 10 ORDER BY slow.duration_ns DESC, step;

CREATE VIEW report_api AS
WITH one AS (
    SELECT name, span, begin_ns, duration_ns, result,
           row_number() OVER (PARTITION BY name ORDER BY duration_ns) AS rank,
           count(*) OVER (PARTITION BY name) AS n
    FROM api
), named AS (
    SELECT name, n, sum(duration_ns) AS total_ns, CAST(round(avg(duration_ns)) AS INTEGER) AS avg_ns,
           CAST(round(avg(CASE WHEN rank IN ((n + 1) / 2, n / 2 + 1) THEN duration_ns END)) AS INTEGER)
               AS median_ns,
           max(CASE WHEN n >= 100 AND rank = (n * 99 + 99) / 100 THEN duration_ns END) AS p99_ns,
           min(duration_ns) AS min_ns, max(duration_ns) AS max_ns, sum(result <> 0) AS errors,
           min(span) AS first
    FROM one GROUP BY name
)
SELECT name, n AS count, coalesce(100.0 * total_ns / sum(total_ns) OVER (), 0) AS total_percent,
       total_ns, avg_ns, median_ns, p99_ns, min_ns, max_ns,
       100.0 * total_ns / (r.end_ns - r.begin_ns) AS wall_percent, errors,
       CASE WHEN errors THEN (SELECT result & 0xFFFFFFFF FROM api
                              WHERE api.name = named.name AND result <> 0
                              ORDER BY begin_ns, span LIMIT 1) END AS first_error
FROM named CROSS JOIN recording r ORDER BY total_ns DESC, first;

-- ---- Memory -------------------------------------------------------------------------------------

CREATE VIEW report_memory AS
SELECT device, period, peak_bytes,
       CASE WHEN peak_ns >= r.begin_ns THEN peak_ns - r.begin_ns END AS peak_at_ns, current_bytes,
       current_bytes - m.begin_bytes AS change_bytes, allocations, frees, unmatched_frees,
       free_bytes, capacity_bytes, pool_bytes,
       100.0 * (pool_bytes - pool_used_bytes) / pool_bytes AS fragmentation_percent
FROM memory_totals m CROSS JOIN recording r ORDER BY m.rowid;

CREATE VIEW report_memory_jumps AS
WITH RECURSIVE up(event, span) AS ( -- from a call up to the scope that makes it
    SELECT rowid, span FROM memory WHERE bytes > 0 AND NOT is_pool
    UNION ALL
    SELECT event, parent FROM up JOIN spans s ON s.id = up.span WHERE s.kind = 'call'
), jump AS (
    SELECT m.rowid AS event, m.bytes, m.time_ns,
           CASE WHEN m.kind = 'pinned' AND m.device <> 'host' THEN 'host, pinned' ELSE m.device END
               AS device, m.track, s.name, s.file, s.line, s.category
    FROM memory m JOIN up ON up.event = m.rowid LEFT JOIN spans s ON s.id = up.span
    WHERE s.kind IS NOT 'call'
)
SELECT bytes, count(*) AS times, min(time_ns) - r.begin_ns AS first_at_ns, jump.name AS scope,
       coalesce((SELECT t.name FROM tracks t WHERE t.id = track), '') AS thread, device
FROM jump CROSS JOIN recording r
GROUP BY bytes, device, jump.name, file, line, category ORDER BY bytes DESC, min(event) LIMIT 1000;

CREATE VIEW report_memory_scopes AS
SELECT name AS scope, cpu_memory_bytes, self_cpu_memory_bytes, cuda_memory_bytes,
       self_cuda_memory_bytes
FROM report_scopes
WHERE cpu_memory_bytes OR self_cpu_memory_bytes OR cuda_memory_bytes OR self_cuda_memory_bytes
ORDER BY CASE WHEN EXISTS (SELECT 1 FROM memory_totals WHERE device <> 'host')
              THEN cuda_memory_bytes ELSE cpu_memory_bytes END DESC, first_span;

CREATE VIEW report_memory_copies AS
SELECT name AS copy, coalesce(source_memory, 'unknown') AS "from",
       coalesce(target_memory, 'unknown') AS "to", count(*) AS count,
       coalesce(sum(bytes), 0) AS bytes,
       CAST(round(1.0 * coalesce(sum(bytes), 0) / count(*)) AS INTEGER) AS avg_bytes,
       min(coalesce(bytes, 0)) AS min_bytes, max(coalesce(bytes, 0)) AS max_bytes,
       sum(duration_ns) AS time_ns, 1.0 * coalesce(sum(bytes), 0) / sum(duration_ns) AS gb_per_second
FROM device_activities WHERE kind = 'memcpy'
GROUP BY name, source_memory, target_memory ORDER BY time_ns DESC, min(id);
