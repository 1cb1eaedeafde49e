-- Reads a bulk run at one instant.
--
-- KEYS    the keys of a bulk run (see shared/bulk.lua)
-- ARGV    1 `items` to read those too, else ''
-- RETURNS { now ms, run as flat fields, items as flat fields }
--! include shared/bulk.lua

return { now_ms(), redis.call('HGETALL', RUN), ARGV[1] == 'items' and redis.call('HGETALL', ITEMS) or {} }
