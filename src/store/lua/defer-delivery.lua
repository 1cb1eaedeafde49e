-- A delivery whose processing failed unexpectedly: counted, and due again after a growing wait. It is never given up.
--
-- KEYS    1 delivery · 2 due set of deliveries
-- ARGV    1 delivery id · 2 base ms · 3 cap ms
-- RETURNS how often it has failed
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local failures = redis.call('HINCRBY', KEYS[1], 'failures', 1)
local wait = math.min(tonumber(ARGV[3]), tonumber(ARGV[2]) * 2 ^ math.min(failures - 1, 20))
redis.call('ZADD', KEYS[2], now + wait, ARGV[1])
return failures
