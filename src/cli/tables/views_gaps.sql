-- Idle times of devices, their causes, and late launches, as views: see views.sql. docs/reports.md
-- explains the causes with the report `gaps`.
--
-- The table idle_times has the times in which a device (kind device) or one of its streams (kind
-- stream) was idle: from the latest end so far to the next begin, and at both edges of the
-- recording. `before` and `after` are ids of activities, NULL at an edge. Until host_until_ns the
-- host had not launched the next activity; `rest` is the cause of the remaining time. The table
-- known_times has for how much of wall_ns it is known when a device or stream was idle, and so when
-- it was busy. 0: not all that it ran is recorded.

-- The idle times between two activities, with the cause of the longer part.
CREATE VIEW gaps AS
SELECT kind, device, context, stream, begin_ns, end_ns, end_ns - begin_ns AS duration_ns,
       is_late, host_until_ns - begin_ns AS host_late_ns,
       CASE WHEN 2 * host_until_ns > begin_ns + end_ns THEN 'host late' ELSE rest END AS cause,
       before, after
FROM idle_times WHERE before IS NOT NULL AND after IS NOT NULL;

CREATE VIEW report_gaps AS
WITH idle AS (
    SELECT kind, device, context, stream, end_ns - begin_ns AS idle_ns, is_late, rest,
           host_until_ns - begin_ns AS host_ns, end_ns - host_until_ns AS rest_ns
    FROM idle_times
), caused AS (
    SELECT kind, device, context, stream, sum(idle_ns) AS idle_ns, sum(rest <> 'edge') AS gaps,
           sum(host_ns) AS host_ns, sum(CASE rest WHEN 'waited' THEN rest_ns ELSE 0 END) AS waited_ns,
           sum(CASE rest WHEN 'short' THEN rest_ns ELSE 0 END) AS short_ns,
           sum(CASE rest WHEN 'graph' THEN rest_ns ELSE 0 END) AS graph_ns,
           sum(CASE rest WHEN 'edge' THEN rest_ns ELSE 0 END) AS edge_ns,
           sum(CASE rest WHEN 'other' THEN rest_ns ELSE 0 END) AS other_ns, sum(is_late) AS late
    FROM idle GROUP BY kind, device, context, stream
), row_of AS (
    SELECT 'device' AS kind, device, NULL AS context, NULL AS stream, count(*) AS activities,
           min(begin_ns) AS first_ns, min(id) AS first
    FROM device_activities GROUP BY device
    UNION ALL
    SELECT 'stream', device, context, stream, count(*), min(begin_ns), min(id)
    FROM device_activities GROUP BY device, context, stream
)
SELECT o.device, o.stream, activities,
       CASE WHEN known_ns THEN known_ns - coalesce(idle_ns, 0) END AS busy_ns,
       100.0 * (known_ns - coalesce(idle_ns, 0)) / nullif(known_ns, 0) AS busy_percent,
       CASE WHEN known_ns < wall_ns THEN 100.0 * known_ns / wall_ns END AS known_percent,
       CASE WHEN known_ns THEN coalesce(idle_ns, 0) END AS idle_ns,
       CASE WHEN known_ns THEN coalesce(gaps, 0) END AS gaps,
       CASE WHEN known_ns THEN coalesce(host_ns, 0) END AS host_late_ns,
       CASE WHEN known_ns THEN coalesce(waited_ns, 0) END AS waited_ns,
       CASE WHEN known_ns THEN coalesce(short_ns, 0) END AS short_ns,
       CASE WHEN known_ns THEN coalesce(graph_ns, 0) END AS graph_ns,
       CASE WHEN known_ns THEN coalesce(edge_ns, 0) END AS edge_ns,
       CASE WHEN known_ns THEN coalesce(other_ns, 0) END AS other_ns, o.context,
       CASE WHEN known_ns THEN coalesce(late, 0) END AS late
FROM row_of o
     JOIN known_times k ON k.kind = o.kind AND k.device = o.device AND k.context IS o.context
                           AND k.stream IS o.stream
     LEFT JOIN caused c ON c.kind = o.kind AND c.device = o.device AND c.context IS o.context
                           AND c.stream IS o.stream
ORDER BY min(o.first_ns) OVER (PARTITION BY o.device), o.device, o.kind, o.first_ns, o.first;

CREATE VIEW report_gaps_scopes AS
SELECT coalesce(scope, CASE WHEN is_unknown THEN '(thread not known)' ELSE '(outside of scopes)' END)
           AS scope, device, sum(idle_ns) AS idle_ns,
       1.0 * sum(idle_ns) / sum(sum(idle_ns)) OVER (PARTITION BY device) * 100 AS idle_percent,
       sum(host_late_ns) AS host_late_ns, sum(in_calls_ns) AS in_calls_ns
FROM idle_in_scopes GROUP BY device, scope, is_unknown ORDER BY sum(idle_ns) DESC, device;

CREATE VIEW report_gaps_longest AS
WITH longest AS (
    SELECT device, begin_ns, end_ns - begin_ns AS gap_ns, before, after,
           CASE WHEN 2 * host_until_ns > begin_ns + end_ns THEN 'host late' ELSE rest END AS cause
    FROM idle_times WHERE kind = 'device' ORDER BY gap_ns DESC, begin_ns LIMIT 1000
), place AS ( -- the scope with the most idle time
    SELECT device, begin_ns, scope, max(idle_ns) FROM idle_in_scopes GROUP BY device, begin_ns
), both AS ( -- joined by GROUP BY, without a search in either
    SELECT device, begin_ns, gap_ns, before, after, cause, NULL AS scope FROM longest
    UNION ALL
    SELECT device, begin_ns, NULL, NULL, NULL, NULL, scope FROM place
), named AS (
    SELECT device, begin_ns, max(gap_ns) AS gap_ns, max(before) AS before, max(after) AS after,
           max(cause) AS cause, max(scope) AS scope
    FROM both GROUP BY device, begin_ns HAVING max(gap_ns) IS NOT NULL
)
SELECT gap_ns, n.begin_ns - r.begin_ns AS begin_ns, n.device, NULL AS stream, cause, n.scope,
       b.name AS before, a.name AS after
FROM named n CROSS JOIN (SELECT begin_ns FROM recording) r
     LEFT JOIN activities b ON b.id = n.before LEFT JOIN activities a ON a.id = n.after
ORDER BY gap_ns DESC, n.begin_ns;

CREATE VIEW report_gaps_stream_gaps AS
SELECT i.end_ns - i.begin_ns AS gap_ns, i.begin_ns - r.begin_ns AS begin_ns, i.device, i.stream,
       CASE WHEN 2 * host_until_ns > i.begin_ns + i.end_ns THEN 'host late' ELSE rest END AS cause,
       b.name AS before, a.name AS after
FROM idle_times i CROSS JOIN (SELECT begin_ns FROM recording) r
     LEFT JOIN activities b ON b.id = i.before LEFT JOIN activities a ON a.id = i.after
WHERE i.kind = 'stream' ORDER BY gap_ns DESC, i.begin_ns LIMIT 1000;

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
       CASE WHEN known THEN sum(late) END AS not_hidden,
       CASE WHEN known THEN 100.0 * sum(late) / count(*) END AS not_hidden_percent,
       CASE WHEN known THEN sum(waited_ns) END AS waited_ns,
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
FROM named CROSS JOIN (SELECT max(known_ns) > 0 AS known FROM known_times)
GROUP BY name ORDER BY waited_ns DESC, min(first);

-- Launches whose activity is lost, by enclosing scopes, outermost first.
CREATE VIEW report_launches_missing AS
WITH RECURSIVE scopes(path, scope) AS (
    SELECT id, CASE WHEN is_call THEN NULL ELSE name END FROM paths WHERE parent IS NULL
    UNION ALL
    SELECT p.id, CASE WHEN p.is_call THEN s.scope ELSE coalesce(s.scope || ' > ', '') || p.name END
    FROM scopes s JOIN paths p ON p.parent = s.path
)
SELECT coalesce(scope, '(outside of scopes)') AS scope, api.name AS launch, count(*) AS count
FROM api JOIN spans ON spans.id = api.span LEFT JOIN scopes ON scopes.path = spans.path
WHERE no_activity GROUP BY 1, 2 ORDER BY count DESC, min(api.span);

-- ---- The summary --------------------------------------------------------------------------------

CREATE VIEW report_summary AS
SELECT name, self_cpu_percent, self_cpu_ns, cpu_total_ns, cpu_time_avg_ns, calls, self_cuda_ns,
       cuda_total_ns
FROM report_scopes ORDER BY self_cpu_ns DESC, first_span;

CREATE VIEW report_summary_activities AS
SELECT activity, total_time_ns, CAST(round(1.0 * total_time_ns / count) AS INTEGER) AS time_avg_ns,
       count
FROM report_activities ORDER BY total_time_ns DESC;

CREATE VIEW report_summary_devices AS
SELECT g.device, busy_percent, known_percent, busy_ns, idle_ns, host_late_ns AS idle_host_ns, late, total_time_ns,
       count
FROM report_gaps g JOIN report_devices USING (device) WHERE stream IS NULL
ORDER BY (SELECT min(begin_ns) FROM activities a WHERE a.device = g.device), g.device;

CREATE VIEW report_summary_steps AS SELECT * FROM report_steps;

-- The facts above the tables of the summary, with the keys of --json.
CREATE VIEW report_summary_facts AS
WITH fact AS (
    SELECT max(CASE key WHEN 'name' THEN value END) AS name,
           max(CASE key WHEN 'cycle' THEN value END) AS cycle,
           max(CASE key WHEN 'step_count' THEN value END) AS step_count,
           max(CASE key WHEN 'first_step' THEN value END) AS first_step
    FROM facts
), host AS (
    SELECT coalesce(sum(self_ns), 0) AS self_ns, count(*) AS calls
    FROM spans WHERE path IS NOT NULL AND kind <> 'call'
), step AS ( -- over all steps of the run if known
    SELECT * FROM report_steps ORDER BY steps = 'all' DESC LIMIT 1
), slowest AS (
    SELECT * FROM slowest_steps ORDER BY duration_ns DESC, step LIMIT 1
), memory AS (
    SELECT * FROM report_memory
    WHERE device = 'host' AND period = 'recording'
          AND EXISTS (SELECT 1 FROM memory_totals WHERE device = 'host' AND period = 'since start'
                      AND (allocations OR peak_bytes))
)
SELECT 'name' AS key, name AS value FROM fact
UNION ALL SELECT 'run_steps', count FROM report_steps WHERE steps = 'all'
UNION ALL SELECT 'run_ns', value FROM facts
          WHERE key = 'all_steps_total_ns' AND EXISTS (SELECT 1 FROM step WHERE steps = 'all')
UNION ALL SELECT 'run_recorded_steps', (SELECT coalesce(sum(recorded), 0) FROM run_windows)
          FROM slowest
UNION ALL SELECT 'slowest_step', step FROM slowest
UNION ALL SELECT 'slowest_step_ns', duration_ns FROM slowest
UNION ALL SELECT 'cycle', cycle FROM fact
UNION ALL SELECT 'wall_ns', end_ns - begin_ns FROM recording
UNION ALL SELECT 'steps_per_second', steps_per_second FROM step
UNION ALL SELECT 'step_median_ns', median_ns FROM step
UNION ALL SELECT 'step_p99_ns', p99_ns FROM step WHERE p99_ns IS NOT NULL
UNION ALL SELECT 'realtime_factor', realtime_factor FROM step WHERE realtime_factor > 0
UNION ALL SELECT 'self_cpu_total_ns', self_ns FROM host
UNION ALL SELECT 'self_cpu_per_wall', 1.0 * self_ns / (end_ns - begin_ns)
          FROM host CROSS JOIN recording
UNION ALL SELECT 'calls', calls FROM host
UNION ALL SELECT 'activities', (SELECT count(*) FROM activities)
UNION ALL SELECT 'first_step', first_step FROM fact WHERE step_count > 0
UNION ALL SELECT 'memory_peak_bytes', peak_bytes FROM memory
UNION ALL SELECT 'memory_current_bytes', current_bytes FROM memory
UNION ALL SELECT 'memory_change_bytes', change_bytes FROM memory
UNION ALL SELECT 'self_cuda_total_ns', sum(duration_ns) FROM device_activities HAVING count(*) > 0
UNION ALL SELECT 'copied_bytes', coalesce(sum(bytes), 0) FROM device_activities
          WHERE kind = 'memcpy' HAVING count(*) > 0;
