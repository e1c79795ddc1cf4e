-- Indexes, and the reports of `takt report` as views: rows, columns and numbers are the report's.
-- docs/exports.md says which columns are left out. Means are rounded to whole nanoseconds, as the
-- reports have them.

CREATE INDEX spans_by_name ON spans(name);
CREATE INDEX spans_by_parent ON spans(parent) WHERE parent IS NOT NULL;
CREATE INDEX args_by_span ON args(span);
CREATE INDEX activities_by_begin ON activities(device, begin_ns);
CREATE INDEX activities_by_end ON activities(device, end_ns);
CREATE INDEX activities_by_name ON activities(name);
CREATE INDEX activities_by_launch ON activities(launch_span) WHERE launch_span IS NOT NULL;

-- When the recording began and ended, and how exactly times of devices are known.
CREATE VIEW recording AS
SELECT max(CASE key WHEN 'begin_ns' THEN value END) AS begin_ns,
       max(CASE key WHEN 'end_ns' THEN value END) AS end_ns,
       CAST(max(CASE key WHEN 'device_uncertainty_ns' THEN value END) + 0.5 AS INTEGER)
           AS uncertainty_ns
FROM facts;

CREATE VIEW device_activities AS SELECT * FROM activities WHERE device GLOB 'cuda:*';

-- Each path with itself and all paths that it is inside of.
CREATE VIEW paths_around AS
WITH RECURSIVE up(path, around) AS (
    SELECT id, id FROM paths
    UNION ALL
    SELECT up.path, paths.parent FROM up JOIN paths ON paths.id = up.around
    WHERE paths.parent IS NOT NULL
)
SELECT path, around FROM up;

-- ---- Time of the host ---------------------------------------------------------------------------

CREATE VIEW report_scopes AS
WITH host AS (
    SELECT paths.name, count(*) AS calls, sum(self_ns) AS self_ns,
           sum(CASE WHEN is_recursive THEN 0 ELSE duration_ns END) AS total_ns,
           min(duration_ns) AS min_ns, max(duration_ns) AS max_ns, min(spans.id) AS first
    FROM spans JOIN paths ON paths.id = spans.path WHERE NOT is_call GROUP BY paths.name
), launched AS ( -- an activity counts once for a name, however deep the recursion
    SELECT DISTINCT a.id, a.duration_ns, a.begin_ns, a.end_ns, scope.name,
           max(scope.id = s.path) OVER (PARTITION BY a.id, scope.name) AS is_own
    FROM device_activities a JOIN spans s ON s.id = a.scope_span
         JOIN paths_around u ON u.path = s.path JOIN paths scope ON scope.id = u.around
), covered AS (
    SELECT *, max(0, end_ns - max(begin_ns, coalesce(max(end_ns) OVER (
                  PARTITION BY name ORDER BY begin_ns, id
                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0))) AS new_ns
    FROM launched
), device AS (
    SELECT name, sum(duration_ns) AS total_ns, sum(new_ns) AS busy_ns,
           sum(CASE WHEN is_own THEN duration_ns ELSE 0 END) AS self_ns
    FROM covered GROUP BY name
), whole AS (
    SELECT (SELECT sum(self_ns) FROM host) AS host_ns,
           (SELECT sum(duration_ns) FROM device_activities) AS device_ns
)
SELECT host.name, coalesce(100.0 * host.self_ns / host_ns, 0) AS self_cpu_percent,
       host.self_ns AS self_cpu_ns,
       coalesce(100.0 * host.total_ns / host_ns, 0) AS cpu_total_percent,
       host.total_ns AS cpu_total_ns,
       CAST(round(1.0 * host.total_ns / calls) AS INTEGER) AS cpu_time_avg_ns,
       coalesce(device.self_ns, 0) AS self_cuda_ns,
       coalesce(100.0 * device.self_ns / device_ns, 0) AS self_cuda_percent,
       coalesce(device.total_ns, 0) AS cuda_total_ns,
       CAST(round(1.0 * coalesce(device.total_ns, 0) / calls) AS INTEGER) AS cuda_time_avg_ns,
       coalesce(busy_ns, 0) AS cuda_busy_ns, calls,
       min_ns AS cpu_time_min_ns, max_ns AS cpu_time_max_ns
FROM host CROSS JOIN whole LEFT JOIN device ON device.name = host.name
ORDER BY host.total_ns DESC, first;

CREATE VIEW report_tree AS
WITH RECURSIVE host AS (
    SELECT path, count(*) AS calls, sum(duration_ns) AS total_ns, sum(self_ns) AS self_ns,
           min(duration_ns) AS min_ns, max(duration_ns) AS max_ns
    FROM spans WHERE path IS NOT NULL GROUP BY path
), launched AS (
    SELECT s.path, sum(a.duration_ns) AS ns
    FROM device_activities a JOIN spans s ON s.id = a.scope_span GROUP BY s.path
), device AS (
    SELECT around AS path, sum(ns) AS total_ns, sum(CASE WHEN path = around THEN ns END) AS self_ns
    FROM launched JOIN paths_around USING (path) GROUP BY around
), node AS (
    SELECT id, parent, name, calls, host.total_ns, host.self_ns, min_ns, max_ns,
           coalesce(device.total_ns, 0) AS device_ns, coalesce(device.self_ns, 0) AS device_self_ns
    FROM paths JOIN host ON host.path = id LEFT JOIN device ON device.path = id WHERE NOT is_call
), walk(id, depth, total_ns) AS ( -- the deepest first, and of these the longest
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
SELECT name, depth, calls, coalesce(100.0 * node.total_ns / host_ns, 0) AS cpu_total_percent,
       node.total_ns AS cpu_total_ns, coalesce(100.0 * self_ns / host_ns, 0) AS self_cpu_percent,
       self_ns AS self_cpu_ns, CAST(round(1.0 * node.total_ns / calls) AS INTEGER) AS cpu_time_avg_ns,
       min_ns AS cpu_time_min_ns, max_ns AS cpu_time_max_ns, node.device_ns AS cuda_total_ns,
       coalesce(100.0 * node.device_ns / whole.device_ns, 0) AS cuda_total_percent,
       device_self_ns AS self_cuda_ns, node.id AS path
FROM place JOIN node ON node.id = place.id CROSS JOIN whole ORDER BY position;

CREATE VIEW report_steps AS
WITH one AS (
    SELECT duration_ns, row_number() OVER (ORDER BY duration_ns) AS rank, count(*) OVER () AS n
    FROM steps
)
SELECT 'recorded' AS steps, n AS count, CAST(round(avg(duration_ns)) AS INTEGER) AS mean_ns,
       CAST(round(avg(CASE WHEN rank IN ((n + 1) / 2, n / 2 + 1) THEN duration_ns END)) AS INTEGER)
           AS median_ns,
       max(CASE WHEN rank = (n * 99 + 99) / 100 THEN duration_ns END) AS p99_ns,
       max(duration_ns) AS max_ns, min(duration_ns) AS min_ns,
       1e9 / avg(duration_ns) AS steps_per_second
FROM one GROUP BY n;

CREATE VIEW report_api AS
WITH one AS (
    SELECT *, row_number() OVER (PARTITION BY name ORDER BY duration_ns) AS rank,
           count(*) OVER (PARTITION BY name) AS n
    FROM api
)
SELECT name, n AS count,
       coalesce(100.0 * sum(duration_ns) / (SELECT sum(duration_ns) FROM api), 0) AS total_percent,
       sum(duration_ns) AS total_ns, CAST(round(avg(duration_ns)) AS INTEGER) AS avg_ns,
       max(CASE WHEN rank = (n + 1) / 2 THEN duration_ns END) AS median_ns,
       max(CASE WHEN rank = (n * 99 + 99) / 100 THEN duration_ns END) AS p99_ns,
       min(duration_ns) AS min_ns, max(duration_ns) AS max_ns, sum(result <> 0) AS errors
FROM one GROUP BY name ORDER BY total_ns DESC, min(span);

-- ---- What devices did ---------------------------------------------------------------------------

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
    SELECT *, row_number() OVER (PARTITION BY name ORDER BY duration_ns) AS rank,
           count(*) OVER (PARTITION BY name) AS n
    FROM device_activities WHERE kind IN ('kernel', 'builtin')
)
SELECT name, n AS count,
       coalesce(100.0 * sum(duration_ns) / (SELECT sum(duration_ns) FROM one), 0) AS total_percent,
       sum(duration_ns) AS total_ns, CAST(round(avg(duration_ns)) AS INTEGER) AS avg_ns,
       max(CASE WHEN rank = (n + 1) / 2 THEN duration_ns END) AS median_ns,
       max(CASE WHEN rank = (n * 99 + 99) / 100 THEN duration_ns END) AS p99_ns,
       min(duration_ns) AS min_ns, max(duration_ns) AS max_ns
FROM one GROUP BY name ORDER BY total_ns DESC, min(id);

CREATE VIEW report_copies AS
SELECT name AS copy, coalesce(source_memory, 'unknown') AS "from",
       coalesce(target_memory, 'unknown') AS "to", count(*) AS count,
       coalesce(sum(bytes), 0) AS bytes, sum(duration_ns) AS time_ns,
       1.0 * sum(bytes) / sum(duration_ns) AS gb_per_second
FROM device_activities WHERE kind = 'memcpy'
GROUP BY name, source_memory, target_memory ORDER BY time_ns DESC, min(id);

CREATE VIEW report_memory AS
SELECT device, 'recording' AS period, sum(bytes) AS change_bytes,
       sum(bytes > 0) AS allocations
FROM memory WHERE NOT is_pool GROUP BY device ORDER BY device;

-- Gaps of devices and, as rows of their own, of streams: from the latest end so far to the next
-- begin. host_late_ns is how long it took until what comes after was handed over.
CREATE VIEW gaps AS
WITH piece AS (
    SELECT 'device' AS kind, device, NULL AS context, NULL AS stream, id, begin_ns, launch_span,
           launch_begin_ns, launch_end_ns, max(end_ns) OVER before AS until_ns
    FROM device_activities
    WINDOW before AS (PARTITION BY device ORDER BY begin_ns, id
                      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    UNION ALL
    SELECT 'stream', device, context, stream, id, begin_ns, launch_span,
           launch_begin_ns, launch_end_ns, max(end_ns) OVER before
    FROM device_activities
    WINDOW before AS (PARTITION BY device, context, stream ORDER BY begin_ns, id
                      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), gap AS (
    SELECT kind, p.device, p.context, p.stream, until_ns AS begin_ns, p.begin_ns AS end_ns,
           p.id AS after, p.launch_span, launch_end_ns <= p.begin_ns AS has_returned,
           CASE WHEN launch_end_ns <= p.begin_ns THEN launch_end_ns ELSE launch_begin_ns END
               AS handed_ns,
           (SELECT id FROM activities a
            WHERE a.device = p.device AND a.end_ns = until_ns
                  AND (p.kind = 'device' OR (a.context IS p.context AND a.stream IS p.stream))
            ORDER BY a.begin_ns, a.id LIMIT 1) AS before
    FROM piece p WHERE p.begin_ns > until_ns
), part AS (
    SELECT gap.*, r.begin_ns AS from_ns, r.end_ns AS to_ns,
           coalesce(gap.launch_span = b.launch_span, 0) AS is_graph,
           coalesce(gap.launch_span IS NOT b.launch_span
                    AND handed_ns > gap.begin_ns + r.uncertainty_ns, 0) AS is_late
    FROM gap CROSS JOIN recording r JOIN activities b ON b.id = before
), late AS (
    SELECT *, CASE WHEN NOT is_late THEN begin_ns
                   WHEN has_returned AND end_ns - handed_ns >= 5000 THEN handed_ns
                   ELSE end_ns END AS host_until_ns,
           end_ns - begin_ns < 5000 AS is_short
    FROM part
), clipped AS (
    SELECT kind, device, context, stream, before, after, launch_span, is_graph, is_late, is_short,
           max(min(begin_ns, to_ns), from_ns) AS begin_ns,
           max(min(end_ns, to_ns), from_ns) AS end_ns,
           max(min(host_until_ns, to_ns), from_ns) AS host_until_ns
    FROM late
)
SELECT kind, device, context, stream, begin_ns, end_ns, end_ns - begin_ns AS duration_ns,
       is_late, host_until_ns - begin_ns AS host_late_ns,
       CASE WHEN launch_span IS NULL THEN 'other'
            WHEN is_graph THEN 'graph'
            WHEN 2 * host_until_ns > begin_ns + end_ns THEN 'host late'
            WHEN is_short THEN 'short'
            ELSE 'waited or other' END AS cause,
       before, after
FROM clipped WHERE end_ns > begin_ns;

CREATE VIEW report_gaps AS
WITH row_of AS (
    SELECT 'device' AS kind, device, NULL AS context, NULL AS stream, id, begin_ns, end_ns,
           max(end_ns) OVER (PARTITION BY device ORDER BY begin_ns, id
                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
    FROM device_activities
    UNION ALL
    SELECT 'stream', device, context, stream, id, begin_ns, end_ns,
           max(end_ns) OVER (PARTITION BY device, context, stream ORDER BY begin_ns, id
                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    FROM device_activities
), busy AS (
    SELECT kind, o.device, o.context, o.stream, count(*) AS activities,
           sum(max(0, min(o.end_ns, r.end_ns)
                      - max(o.begin_ns, coalesce(until_ns, 0), r.begin_ns))) AS busy_ns,
           max(0, min(min(o.begin_ns), r.end_ns) - r.begin_ns)
               + max(0, r.end_ns - max(max(o.end_ns), r.begin_ns)) AS edge_ns,
           r.end_ns - r.begin_ns AS wall_ns, min(o.begin_ns) AS first_ns
    FROM row_of o CROSS JOIN recording r GROUP BY kind, o.device, o.context, o.stream
)
SELECT b.device, b.stream, activities, busy_ns, 100.0 * busy_ns / wall_ns AS busy_percent,
       wall_ns - busy_ns AS idle_ns, count(after) AS gaps,
       coalesce(sum(host_late_ns), 0) AS host_late_ns,
       coalesce(sum(CASE cause WHEN 'short' THEN duration_ns END), 0) AS short_ns,
       coalesce(sum(CASE cause WHEN 'graph' THEN duration_ns END), 0) AS graph_ns, edge_ns, b.context,
       coalesce(sum(is_late), 0) AS late
FROM busy b LEFT JOIN gaps g ON g.kind = b.kind AND g.device = b.device AND g.context IS b.context
                             AND g.stream IS b.stream
GROUP BY b.kind, b.device, b.context, b.stream
ORDER BY min(first_ns) OVER (PARTITION BY b.device), b.device, b.kind, first_ns;

CREATE VIEW report_launches AS
WITH one AS (
    SELECT launch_span, min(id) AS first, min(begin_ns) AS begin_ns, max(end_ns) AS end_ns,
           max(launch_begin_ns) AS call_begin_ns, max(launch_end_ns) AS call_end_ns
    FROM device_activities WHERE launch_span IS NOT NULL GROUP BY launch_span
), late AS (
    SELECT launch_span, count(*) AS late, sum(host_late_ns) AS waited_ns
    FROM gaps JOIN activities a ON a.id = after WHERE gaps.kind = 'device' AND is_late
    GROUP BY launch_span
), named AS (
    SELECT one.*, CASE WHEN graph THEN 'graph ' || graph ELSE name END AS name, launch,
           coalesce(late, 0) AS late, coalesce(waited_ns, 0) AS waited_ns
    FROM one JOIN activities a ON a.id = first LEFT JOIN late USING (launch_span)
)
SELECT name, count(*) AS count, sum(begin_ns >= call_end_ns) AS queue_count,
       sum(late) AS not_hidden, 100.0 * sum(late) / count(*) AS not_hidden_percent,
       sum(waited_ns) AS waited_ns,
       CAST(round(avg(call_end_ns - call_begin_ns)) AS INTEGER) AS api_avg_ns,
       min(call_end_ns - call_begin_ns) AS api_min_ns,
       max(call_end_ns - call_begin_ns) AS api_max_ns,
       CAST(round(avg(CASE WHEN begin_ns >= call_end_ns THEN begin_ns - call_end_ns END))
            AS INTEGER) AS queue_avg_ns,
       min(CASE WHEN begin_ns >= call_end_ns THEN begin_ns - call_end_ns END) AS queue_min_ns,
       max(CASE WHEN begin_ns >= call_end_ns THEN begin_ns - call_end_ns END) AS queue_max_ns,
       CAST(round(avg(end_ns - begin_ns)) AS INTEGER) AS kernel_avg_ns,
       min(end_ns - begin_ns) AS kernel_min_ns, max(end_ns - begin_ns) AS kernel_max_ns,
       CAST(round(avg(max(0, end_ns - call_begin_ns))) AS INTEGER) AS total_avg_ns,
       min(max(0, end_ns - call_begin_ns)) AS total_min_ns,
       max(max(0, end_ns - call_begin_ns)) AS total_max_ns,
       CASE WHEN min(launch) = max(launch) THEN min(launch) ELSE 'varies' END AS launch
FROM named GROUP BY name ORDER BY waited_ns DESC, min(first);
