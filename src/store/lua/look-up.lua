-- Finds the answer to a question. Without one that is fresh enough, acquires the lock under which the question is asked.
--
-- KEYS    1 answer · 2 lock
-- ARGV    1 id of the caller · 2 lifetime of the lock, ms · 3 how long an answer stays fresh, ms
--         4 id of the owner of the lock that the caller has waited for, or '': an answer of this one is fresh at any age
-- RETURNS { 'answer', data as JSON, when it was checked by the clock of its process, Unix ms }
--         { 'ask' }: the caller has the lock · { 'wait', owner of the lock }
--! include shared/lock.lua
--! include shared/now.lua

local now = now_ms()
local data, kept_at, checked_at, asker = unpack(redis.call('HMGET', KEYS[1], 'data', 'kept_at', 'checked_at', 'asker'))
if data and (now - tonumber(kept_at) < tonumber(ARGV[3]) or asker == ARGV[4]) then
  return { 'answer', data, checked_at }
end
local owner = redis.call('GET', KEYS[2])
if owner then
  return { 'wait', owner }
end
acquire_lock(KEYS[2], ARGV[1], ARGV[2])
return { 'ask' }
