-- Returns a permit that no call has used. The first waiting member becomes due, so that it can take it.
--
-- KEYS    1 log of granted permits · 2 waiting queue, members by rank · 3 circuits, which hold the budget states · 4 schedule
-- ARGV    1 when the permit was granted, ms · 2 field of the budget state
-- RETURNS 1
--! include shared/rate-limit.lua
--! include shared/now.lua

local now = now_ms()
redis.call('LREM', KEYS[1], 1, ARGV[1])
local state = budget_state(KEYS[3], ARGV[2])
if state.tried_at and state.tried_at == tonumber(ARGV[1]) then
  -- No call has tried the budget: the next permit is the trial.
  state.tried_at = nil
  redis.call('HSET', KEYS[3], ARGV[2], cjson.encode(state))
end
local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
if first then
  redis.call('ZADD', KEYS[4], 'XX', 'LT', now, first)
end
return 1
