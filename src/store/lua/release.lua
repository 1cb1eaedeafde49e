-- Makes due a slice of what a circuit blocked that is closed now. Until all is, the circuit stays among those to release.
--
-- KEYS    1 the blocked members · 2 those of them that are safe to repeat · 3 circuits to release · 4 due tows · 5 due violations
-- ARGV    1 circuit · 2 how many at most · 3 the word before the id of a violation among the members
-- RETURNS how many were made due

local members = redis.call('SPOP', KEYS[1], ARGV[2])
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
for _, member in ipairs(members) do
  redis.call('SREM', KEYS[2], member)
  if string.sub(member, 1, #ARGV[3]) == ARGV[3] then
    redis.call('ZADD', KEYS[5], now, string.sub(member, #ARGV[3] + 1))
  else
    redis.call('ZADD', KEYS[4], now, member)
  end
end
if redis.call('SCARD', KEYS[1]) == 0 then
  redis.call('SREM', KEYS[3], ARGV[1])
end
return #members
