-- Removes the oldest lines of the audit from Redis, if they are still the lines that were archived. The last line always
-- stays, because the next one is chained to it.
--
-- KEYS    1 audit
-- ARGV    1 how many · 2 the first of them · 3 the last of them
-- RETURNS how many were removed: all or none
local count = tonumber(ARGV[1])
local is_same = redis.call('LINDEX', KEYS[1], 0) == ARGV[2] and redis.call('LINDEX', KEYS[1], count - 1) == ARGV[3]
if not is_same or redis.call('LLEN', KEYS[1]) <= count then
  return 0
end
redis.call('LTRIM', KEYS[1], count, -1)
return count
