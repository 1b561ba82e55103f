-- What changes when there may be new rows, where keys do not rise. Counted up to 200 only.
SELECT COUNT(*) FROM (SELECT 1 FROM {source} AS t{by_status} WHERE {pending} LIMIT 200) AS waiting
