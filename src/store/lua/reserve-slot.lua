-- Reserves the next free slot of a budget, unless it lies too far ahead.
--
-- KEYS    1 log of granted slots
-- ARGV    1 calls per window · 2 that window, ms · 3 how far ahead the slot may lie at most, ms
--         4 a slot of the log that was not used and is exchanged for the new one, or ''
-- RETURNS { 1 reserved | 0 too far ahead, ms from now until the slot }
--! include shared/budget.lua

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit, window_ms = tonumber(ARGV[1]), tonumber(ARGV[2])
local at = slot_at(KEYS[1], limit, window_ms, 0, now)
local unused = ARGV[4] ~= '' and redis.call('LPOS', KEYS[1], ARGV[4])
if unused then
  at = exchanged_slot_at(KEYS[1], now)
end
if at - now > tonumber(ARGV[3]) then
  return { 0, string.format('%.0f', at - now) }
end
if unused then
  redis.call('LREM', KEYS[1], 1, ARGV[4])
end
take_slot(KEYS[1], limit, window_ms, at)
return { 1, string.format('%.0f', at - now) }
