-- A delivery whose processing failed unexpectedly: counted, and due again after a growing wait. It is never given up;
-- after a number of failures a person is asked to look. One that was settled after all is no longer due.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 delivery id · 2 base ms · 3 cap ms · 4 every so many failures open a task · 5 task id · 6 that task as JSON
-- RETURNS how often it has failed; 0 when it was settled
--! include shared/tasks.lua

local id = ARGV[1]
local state = redis.call('HGET', DELIVERY, 'state')
if not state or state == 'processed' then
  redis.call('ZREM', DUE_DELIVERIES, id)
  return 0
end
local failures = redis.call('HINCRBY', DELIVERY, 'failures', 1)
local wait = math.min(tonumber(ARGV[3]), tonumber(ARGV[2]) * 2 ^ math.min(failures - 1, 20))
redis.call('ZADD', DUE_DELIVERIES, now_ms() + wait, id)
if failures % tonumber(ARGV[4]) == 0 then
  open_task(redis.call('HGET', DELIVERY, 'towing_reference_id'), ARGV[5], ARGV[6])
end
return failures
