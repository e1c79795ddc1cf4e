-- The reports about phases inside kernels and about compilations, as views: see views.sql. A launch is told by its
-- correlation; a block that has recorded before under the same one begins the next launch.

CREATE VIEW block_launches AS
SELECT *, dense_rank() OVER (ORDER BY kernel, timers, device) AS k,
       row_number() OVER (PARTITION BY kernel, timers, device, correlation, block, lane ORDER BY id)
           AS run
FROM blocks;

CREATE VIEW report_phases_kernels AS
WITH launch AS (
    SELECT k, min(id) AS first, kernel, device, timers, count(*) AS n, sum(cycles) AS cycles,
           max(cycles) AS most, sum(lost_records) AS lost, sum(cycles * ns_per_cycle) AS ns,
           count(ns_per_cycle) AS known, sum(launch IS 'uncertain') AS uncertain,
           sum(launch IS 'not recorded') AS unrecorded
    FROM block_launches GROUP BY k, correlation, run
)
SELECT kernel, count(*) AS launches, sum(n) AS blocks,
       CASE WHEN sum(known) = sum(n) THEN sum(ns) / sum(n) END AS avg_ns,
       1.0 * sum(cycles) / sum(n) AS avg_cycles,
       sum(most) / nullif(sum(1.0 * cycles / n), 0) AS spread, sum(lost) AS lost, timers, device,
       sum(uncertain) AS uncertain_blocks, sum(unrecorded) AS unrecorded_blocks
FROM launch GROUP BY k ORDER BY min(first);

CREATE VIEW report_phases AS
WITH block AS (
    SELECT * FROM block_launches
), kernel AS (
    SELECT k, sum(cycles) AS cycles, count(*) = count(ns_per_cycle) AS has_ns FROM block GROUP BY k
), launch AS (
    SELECT k, correlation, run, count(*) AS n FROM block GROUP BY k, correlation, run
), run AS ( -- without phases inside
    SELECT p.*, p.cycles - coalesce(sum(min(c.start_cycles + c.cycles, p.start_cycles + p.cycles)
                                        - c.start_cycles), 0) AS self
    FROM phases p LEFT JOIN phases c ON c.parent = p.id GROUP BY p.id
), timed AS (
    SELECT b.k, r.name, r.cycles * b.ns_per_cycle AS ns,
           row_number() OVER (PARTITION BY b.k, r.name ORDER BY r.cycles * b.ns_per_cycle) AS rank,
           count(*) OVER (PARTITION BY b.k, r.name) AS n
    FROM run r JOIN block b ON b.id = r.block
), figures AS (
    SELECT k, name, avg(ns) AS avg_ns, min(ns) AS min_ns, max(ns) AS max_ns,
           avg(CASE WHEN rank IN ((n + 1) / 2, n / 2 + 1) THEN ns END) AS median_ns
    FROM timed GROUP BY k, name
), part AS ( -- a phase in a block
    SELECT b.k, b.id, b.correlation, b.run, b.kernel, b.device, r.name, min(r.id) AS first,
           count(*) AS calls, sum(CASE WHEN r.is_recursive THEN 0 ELSE r.cycles END) AS cycles,
           sum(r.self) AS self, b.ns_per_cycle
    FROM run r JOIN block b ON b.id = r.block GROUP BY b.id, r.name
), spread AS (
    SELECT k, name, sum(most) / nullif(sum(mean), 0) AS spread FROM (
        SELECT p.k, p.name, max(p.cycles) AS most, 1.0 * sum(p.cycles) / l.n AS mean
        FROM part p JOIN launch l ON l.k = p.k AND l.correlation IS p.correlation AND l.run = p.run
        GROUP BY p.k, p.name, p.correlation, p.run
    ) GROUP BY k, name
)
SELECT p.name AS phase, p.kernel, 100.0 * sum(p.cycles) / nullif(w.cycles, 0) AS share_percent,
       100.0 * sum(p.self) / nullif(w.cycles, 0) AS self_percent, sum(p.calls) AS calls,
       CASE WHEN w.has_ns THEN sum(p.cycles * p.ns_per_cycle) END AS time_ns,
       CASE WHEN w.has_ns THEN f.avg_ns END AS avg_ns,
       CASE WHEN w.has_ns THEN f.median_ns END AS median_ns,
       CASE WHEN w.has_ns THEN f.min_ns END AS min_ns, CASE WHEN w.has_ns THEN f.max_ns END AS max_ns,
       s.spread, sum(p.cycles) AS cycles, 1.0 * sum(p.cycles) / sum(p.calls) AS avg_cycles, p.device
FROM part p JOIN kernel w USING (k) JOIN figures f ON f.k = p.k AND f.name = p.name
     JOIN spread s ON s.k = p.k AND s.name = p.name
GROUP BY p.k, p.name ORDER BY sum(p.cycles) DESC, min(p.id), min(p.first);

CREATE VIEW report_phases_slowest AS
WITH whole AS (
    SELECT k, min(id) AS first, avg(cycles) AS mean, count(*) = count(ns_per_cycle) AS has_ns
    FROM block_launches GROUP BY k
), one AS (
    SELECT k, kernel, device, block, lane, count(*) AS launches, avg(cycles) AS avg_cycles,
           avg(cycles * ns_per_cycle) AS avg_ns, max(cycles) AS most
    FROM block_launches GROUP BY k, block, lane
), ranked AS (
    SELECT o.*, w.first, w.mean, w.has_ns, row_number() OVER (
               PARTITION BY o.k ORDER BY CASE WHEN has_ns THEN avg_ns ELSE avg_cycles END DESC,
                                         block, lane) AS rank
    FROM one o JOIN whole w USING (k)
)
SELECT kernel, block, lane,
       (SELECT sm FROM block_launches b WHERE b.k = r.k AND b.block = r.block AND b.lane = r.lane
            AND b.cycles = r.most ORDER BY correlation, id LIMIT 1) AS sm,
       launches, CASE WHEN has_ns THEN avg_ns END AS avg_ns, avg_cycles,
       avg_cycles / nullif(mean, 0) AS spread, device
FROM ranked r WHERE rank <= 5 ORDER BY first, rank;

CREATE VIEW report_phases_sms AS
SELECT kernel, sm, count(*) AS blocks, avg(cycles) AS avg_cycles, min(cycles) AS min_cycles,
       max(cycles) AS max_cycles, device
FROM block_launches GROUP BY k, sm ORDER BY min(min(id)) OVER (PARTITION BY k), sm;

CREATE VIEW report_compile AS
SELECT unit, phase, self_ns, coalesce(100.0 * self_ns / sum(self_ns) OVER (), 0) AS self_percent,
       total_ns, count, max_ns
FROM compile ORDER BY self_ns DESC, rowid;

CREATE VIEW report_compile_loading AS
SELECT loading, source, total_ns, count, max_ns FROM compile_loading ORDER BY total_ns DESC, rowid;
