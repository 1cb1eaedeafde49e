-- Keeps the answer to a question and gives the right to ask it back. An asker that lost the right, because it froze, does
-- not overwrite what came after it.
--
-- KEYS    1 answer · 2 right to ask
-- ARGV    1 asker · 2 data as JSON · 3 ms since the epoch by the asker's clock · 4 ms it is kept
-- RETURNS 1 when it was kept, else 0

if redis.call('GET', KEYS[2]) ~= ARGV[1] then
  return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'data', ARGV[2], 'kept_at', string.format('%.0f', now), 'checked_at', ARGV[3], 'asker', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return redis.call('DEL', KEYS[2])
