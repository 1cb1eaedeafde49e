-- Reserves the next permit of a rate limit, unless it is too far in the future.
--
-- KEYS    1 log of granted permits · 2 circuits, which hold the budget states
-- ARGV    1 calls per window, 0 = any number · 2 window, ms · 3 how far in the future the permit may be, ms
--         4 time of an unused permit of the log, which is exchanged for the new one, or '' · 5 field of the budget state
-- RETURNS { 1 reserved | 0 too far in the future, ms from now until the permit, calls per window that count }
--! include shared/rate-limit.lua
--! include shared/now.lua

local now = now_ms()
local window_ms, field = tonumber(ARGV[2]), ARGV[5]
local state = budget_state(KEYS[2], field)
local limit = effective_limit(tonumber(ARGV[1]), state, window_ms, now)
if ARGV[4] ~= '' and state.tried_at == tonumber(ARGV[4]) then
  state.tried_at = nil
end
local at = permit_at(KEYS[1], limit, window_ms, 0, now, state)
local unused = ARGV[4] ~= '' and redis.call('LPOS', KEYS[1], ARGV[4])
if unused then
  at = exchanged_permit_at(KEYS[1], now, opens_at(state, 0, window_ms, now))
end
if at - now > tonumber(ARGV[3]) then
  return { 0, string.format('%.0f', at - now), limit }
end
if unused then
  redis.call('LREM', KEYS[1], 1, ARGV[4])
end
grant_permit(KEYS[1], limit, window_ms, at)
pass_closure(KEYS[2], field, state, window_ms, at, now)
return { 1, string.format('%.0f', at - now), limit }
