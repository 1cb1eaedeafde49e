-- Keeps what was chosen for a bulk run. Nothing is decided by it.
--
-- KEYS    the keys of a bulk run (see shared/bulk.lua)
-- ARGV    1 run id · 2 frozen document as JSON · 3 ms it is kept · 4 ms any run is kept at most
--         then for each task: target as JSON · outcome · words as JSON, or ''
-- RETURNS how many tasks can be decided
--! include shared/bulk.lua

local FIRST = 5
local now, total, counts = now_ms(), 0, { waiting = 0, refused = 0, gone = 0 }
for i = FIRST, #ARGV, 3 do
  local outcome = ARGV[i + 1]
  counts[outcome] = counts[outcome] + 1
  redis.call('HSET', ITEMS, total .. ':target', ARGV[i])
  if outcome ~= 'waiting' then
    redis.call('HSET', ITEMS, total .. ':outcome', outcome, total .. ':words', ARGV[i + 2])
  end
  total = total + 1
end
redis.call('HSET', RUN, 'document', ARGV[2], 'state', 'previewed', 'previewed_at', now, 'total', total, 'epoch', 0,
  'lease_until', 0, 'waiting', counts.waiting, 'refused', counts.refused, 'gone', counts.gone)
expire_in(tonumber(ARGV[3]))
local kept_ms = tonumber(ARGV[4])
redis.call('ZADD', RUNS, now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', RUNS, '-inf', string.format('(%.0f', now - 2 * kept_ms))
redis.call('PEXPIRE', RUNS, 2 * kept_ms)
return counts.waiting
