-- Indexes, and the reports of `takt report` as views with the same columns. docs/exports.md says
-- which columns are left out. Shares and means are of whole nanoseconds, rounded as the reports do.

CREATE INDEX spans_by_name ON spans(name);
CREATE INDEX spans_by_parent ON spans(parent) WHERE parent IS NOT NULL;
CREATE INDEX args_by_span ON args(span);
CREATE INDEX activities_by_begin ON activities(device, begin_ns);
CREATE INDEX activities_by_name ON activities(name);

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
