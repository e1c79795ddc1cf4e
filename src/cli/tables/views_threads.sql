-- Threads, tasks and counters. See views.sql.

-- Waits: CUDA calls that wait for a device, and scopes in which threads wait. A wait inside a wait
-- does not count: it begins before the latest end of the waits before it.
CREATE VIEW waiting AS
WITH one AS (
    SELECT track, spans.name, begin_ns, duration_ns,
           max(end_ns) OVER (PARTITION BY track ORDER BY spans.id
                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
    FROM spans JOIN paths ON paths.id = spans.path WHERE is_wait
)
SELECT track, name, sum(duration_ns) AS ns FROM one
WHERE until_ns IS NULL OR begin_ns >= until_ns GROUP BY track, name;

CREATE VIEW report_threads AS
WITH fact AS (
    SELECT max(CASE key WHEN 'process_id' THEN value END) AS process_id,
           max(CASE key WHEN 'end_ns' THEN value END) - max(CASE key WHEN 'begin_ns' THEN value END)
               AS wall_ns,
           max(CASE key WHEN 'begin_ns' THEN value END) AS begin_ns,
           max(CASE key WHEN 'has_spans' THEN value END) AS has_spans
    FROM facts
), outermost AS (
    SELECT track, sum(duration_ns) AS ns FROM spans
    WHERE parent IS NULL AND kind <> 'call' GROUP BY track
), first AS (
    SELECT track, min(begin_ns) AS ns FROM spans GROUP BY track
), waited AS (
    SELECT track, sum(ns) AS ns, max(ns) AS most_ns FROM waiting GROUP BY track
)
SELECT coalesce(nullif(t.name, ''),
                CASE WHEN t.thread = process_id THEN 'main' ELSE 'thread ' || t.thread END)
           AS thread,
       t.thread AS thread_id, spans, coalesce(o.ns, 0) AS scope_time_ns,
       100.0 * coalesce(o.ns, 0) / nullif(wall_ns, 0) AS scope_time_percent,
       coalesce(w.ns, 0) AS waited_ns,
       100.0 * coalesce(w.ns, 0) / nullif(wall_ns, 0) AS waited_percent,
       (SELECT name FROM waiting WHERE waiting.track = t.id AND ns = most_ns AND ns > 0 LIMIT 1)
           AS waited_in,
       f.ns - fact.begin_ns AS first_at_ns
FROM tracks t CROSS JOIN fact LEFT JOIN outermost o ON o.track = t.id
     LEFT JOIN first f ON f.track = t.id
     LEFT JOIN waited w ON w.track = t.id
WHERE t.kind = 'thread' AND has_spans ORDER BY t.thread <> process_id, t.thread, t.id;

-- Each begin adds one to the number of running tasks, each end takes one. At the same time ends
-- come first, except that a task without duration ends after it began.
CREATE VIEW report_tasks AS
WITH task AS (
    SELECT s.id, s.name, t.name AS track_name, track, begin_ns, end_ns, duration_ns, whole_ns
    FROM measured_spans s JOIN tracks t ON t.id = s.track WHERE t.kind = 'async'
), event AS (
    SELECT track, name, begin_ns AS time_ns, 1 AS change, 1 AS rank, id * 2 AS place FROM task
    UNION ALL
    SELECT track, name, end_ns, -1, end_ns = begin_ns, id * 2 + 1 FROM task
), number AS (
    SELECT track, name, sum(change) OVER (PARTITION BY track, name ORDER BY time_ns, rank, place
                                          ROWS UNBOUNDED PRECEDING) AS running
    FROM event
), most AS (
    SELECT track, name, max(running) AS at_once FROM number GROUP BY track, name
), one AS (
    SELECT *, row_number() OVER (PARTITION BY track, name, whole_ns IS NULL ORDER BY duration_ns) AS rank,
           count(whole_ns) OVER (PARTITION BY track, name) AS n
    FROM task
)
SELECT one.name AS task, track_name AS track, count(*) AS count, sum(duration_ns) AS total_ns,
       CAST(round(avg(whole_ns)) AS INTEGER) AS mean_ns,
       CAST(round(avg(CASE WHEN rank IN ((n + 1) / 2, n / 2 + 1) THEN whole_ns END)) AS INTEGER)
               AS median_ns,
       max(CASE WHEN n >= 100 AND rank = (n * 99 + 99) / 100 THEN whole_ns END) AS p99_ns,
       min(whole_ns) AS min_ns, max(whole_ns) AS max_ns, at_once
FROM one JOIN most ON most.track = one.track AND most.name = one.name
GROUP BY one.track, one.name ORDER BY total_ns DESC, one.track, min(id);

-- A value holds until the counter's next sample, or the end of the recording.
CREATE VIEW report_counters AS
WITH one AS (
    SELECT rowid AS id, name, value, abs(value) <= 1.7976931348623157e308 AS is_finite,
           max(0, lead(time_ns, 1, (SELECT end_ns FROM recording))
                      OVER (PARTITION BY name ORDER BY rowid) - time_ns) AS held_ns,
           first_value(value) OVER by_time AS first, last_value(value) OVER by_time AS last
    FROM counters
    WINDOW by_time AS (PARTITION BY name ORDER BY rowid
                       ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
)
SELECT name AS counter, count(*) AS samples, first, last,
       min(CASE WHEN is_finite THEN value END) AS min,
       coalesce(sum(CASE WHEN is_finite THEN value * held_ns END) /
                    nullif(sum(CASE WHEN is_finite THEN held_ns END), 0),
                avg(CASE WHEN is_finite THEN value END)) AS mean,
       max(CASE WHEN is_finite THEN value END) AS max
FROM one GROUP BY name ORDER BY min(id);
