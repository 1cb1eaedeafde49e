-- Closes a task that only informs: a person has read it and says so.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 towing reference · 2 task id · 3 timeline entry · 4 fingerprint of the request to remember, or ''
--         5 its answer, remembered with it: the task itself is gone afterwards
-- RETURNS { 'saved' } · { 'unknown' } · { 'remembered', fingerprint }
--! include shared/tow.lua

local remembered = remembered_fingerprint(ARGV[4])
if remembered then
  return { 'remembered', remembered }
end
if redis.call('HEXISTS', TASKS, ARGV[2]) == 0 then
  return { 'unknown' }
end
close_task(ARGV[1], ARGV[2])
if redis.call('EXISTS', TOW) == 1 then
  remember_on_timeline(ARGV[3])
  raise_version(ARGV[1])
end
remember_effect(ARGV[4])
if ARGV[4] ~= '' then
  redis.call('HSET', IDEMPOTENCY, 'answer', ARGV[5])
end
return { 'saved' }
