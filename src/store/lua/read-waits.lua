-- Reads how long it is until a member of each schedule is due.
--
-- KEYS    1 … n schedules · n + 1 … keys that exist while a poll has something to prepare
-- ARGV    1 n
-- RETURNS { per schedule its wait in ms, 0 = due now, '' = nothing is scheduled; how many of the other keys exist }
local time = redis.call('TIME')
local now = time[1] * 1000 + math.ceil(time[2] / 1000)
local schedules = tonumber(ARGV[1])
local waits = {}
for at = 1, schedules do
  local first = redis.call('ZRANGE', KEYS[at], 0, 0, 'WITHSCORES')[2]
  waits[at] = first and string.format('%.0f', math.max(0, tonumber(first) - now)) or ''
end
waits[schedules + 1] = redis.call('EXISTS', unpack(KEYS, schedules + 1))
return waits
