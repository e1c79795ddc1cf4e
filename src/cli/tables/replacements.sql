-- One text of statements that make a table of each table of each report, in place of its view, and
-- with the view's columns. temp.report_text has the reports as JSON.
WITH part AS (
    SELECT 'report_' || report AS name, report, '$' AS place, text FROM temp.report_text
    UNION ALL
    SELECT 'report_' || report || '_' || key, report, '$.tables.' || key, text
    FROM (SELECT report, report_text.text AS text, key
          FROM temp.report_text, json_each(report_text.text, '$.tables'))
), col AS (
    SELECT part.name, report, place, value AS key
    FROM part, json_each(part.text, place || '.columns')
    UNION
    SELECT part.name, report, place, info.name FROM part, pragma_table_info(part.name) AS info
), statement AS (
    SELECT 'DROP VIEW IF EXISTS ' || name || '; CREATE TABLE ' || name || ' AS SELECT ' ||
           group_concat('json_extract(value, ''$.' || key || ''') AS "' || key || '"', ', ') ||
           ' FROM json_each((SELECT text FROM temp.report_text WHERE report = ''' || report ||
           '''), ''' || place || '.rows'')' AS sql
    FROM col GROUP BY name
    UNION ALL
    SELECT 'DROP VIEW report_summary_facts; CREATE TABLE report_summary_facts AS SELECT key, value ' ||
           'FROM json_each((SELECT text FROM temp.report_text WHERE report = ''summary''), ''$.facts'')'
)
SELECT group_concat(sql, ';') FROM statement;
