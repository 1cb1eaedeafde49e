-- Stores the answer to a question and releases its lock. A process that froze and lost the lock stores nothing, so that it
-- does not overwrite a newer answer.
--
-- KEYS    1 answer · 2 lock
-- ARGV    1 owner · 2 data as JSON · 3 when it was checked by the owner's clock, Unix ms · 4 lifetime of the answer, ms
-- RETURNS 1 when stored, 0 when the owner does not have the lock
--! include shared/lock.lua
--! include shared/now.lua

if not owns_lock(KEYS[2], ARGV[1]) then
  return 0
end
local now = now_ms()
redis.call('HSET', KEYS[1], 'data', ARGV[2], 'kept_at', string.format('%.0f', now), 'checked_at', ARGV[3], 'asker', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return redis.call('DEL', KEYS[2])
