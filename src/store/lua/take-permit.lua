-- Takes a permit of a rate limit. Without a free one, the member joins the waiting queue.
--
-- KEYS    1 log of granted permits · 2 waiting queue, members by rank · 3 circuits, which hold the budget states
-- ARGV    1 member · 2 rank, ms: a member keeps its lowest · 3 calls per window, 0 = any number · 4 window, ms
--         5 field of the budget state
-- RETURNS { 1, when it was granted, ms } · { 0, when a permit may be free, ms }
--! include shared/rate-limit.lua
--! include shared/now.lua

local member, window_ms, field = ARGV[1], tonumber(ARGV[4]), ARGV[5]
local now = now_ms()
local state = budget_state(KEYS[3], field)
local limit = effective_limit(tonumber(ARGV[3]), state, window_ms, now)
redis.call('ZADD', KEYS[2], 'LT', ARGV[2], member)
local at = permit_at(KEYS[1], limit, window_ms, redis.call('ZRANK', KEYS[2], member), now, state)
if at > now then
  return { 0, string.format('%.0f', at) }
end
redis.call('ZREM', KEYS[2], member)
grant_permit(KEYS[1], limit, window_ms, now)
pass_closure(KEYS[3], field, state, window_ms, now, now)
return { 1, string.format('%.0f', now) }
