-- Takes a permit of a rate limit, or a place in the line for one.
--
-- KEYS    1 log of granted permits · 2 the line, members by their rank
-- ARGV    1 member · 2 its rank, ms: a member keeps its lowest · 3 calls per window · 4 that window, ms
--         5 take|look: whether a permit that is there is taken
-- RETURNS { 1, when it was granted, ms } · { 0, when it may be there, ms }
--! include shared/budget.lua

local member, limit, window_ms = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[2], 'LT', ARGV[2], member)
local at = slot_at(KEYS[1], limit, window_ms, redis.call('ZRANK', KEYS[2], member), now)
if at > now then
  return { 0, string.format('%.0f', at) }
end
if ARGV[5] == 'look' then
  return { 1, string.format('%.0f', now) }
end
redis.call('ZREM', KEYS[2], member)
take_slot(KEYS[1], limit, window_ms, now)
return { 1, string.format('%.0f', now) }
