-- Counts a wrong API key of one source in a sliding window. A source that has reached its limit costs no write.
--
-- KEYS    1 timestamps of the last wrong keys of the source, oldest first
-- ARGV    1 wrong keys per window · 2 that window, ms
-- RETURNS 0 when it was counted, else ms until the next one is
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit, window_ms = tonumber(ARGV[1]), tonumber(ARGV[2])
local oldest = redis.call('LINDEX', KEYS[1], -limit)
local left_ms = oldest and tonumber(oldest) + window_ms - now or 0
if left_ms > 0 then
  return math.min(left_ms, window_ms)
end
redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
redis.call('LTRIM', KEYS[1], -limit, -1)
redis.call('PEXPIRE', KEYS[1], window_ms)
return 0
