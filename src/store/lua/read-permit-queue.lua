-- Reads the places of members in a waiting queue, and when they get their permits.
--
-- KEYS    1 log of granted permits · 2 waiting queue, members by rank · 3 circuits, which hold the budget states
-- ARGV    1 calls per window, 0 = any number · 2 window, ms · 3 field of the budget state · 4… members
-- RETURNS { length of the queue, until when the service closed the budget, ms, or 0,
--           per member: its place, from 1, or 0 when it is not in the queue · when it gets its permit, ms }
--! include shared/rate-limit.lua
--! include shared/now.lua

local window_ms = tonumber(ARGV[2])
local now = now_ms()
local state = budget_state(KEYS[3], ARGV[3])
local limit = effective_limit(tonumber(ARGV[1]), state, window_ms, now)
local closed_until = closed_until_of(state, now)

local reply = { redis.call('ZCARD', KEYS[2]), closed_until > now and string.format('%.0f', closed_until) or 0 }
for i = 4, #ARGV do
  local rank = redis.call('ZRANK', KEYS[2], ARGV[i])
  reply[#reply + 1] = rank and rank + 1 or 0
  reply[#reply + 1] = rank and string.format('%.0f', permit_at(KEYS[1], limit, window_ms, rank, now, state)) or 0
end
return reply
