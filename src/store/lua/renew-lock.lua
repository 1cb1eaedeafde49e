-- Lets a lock last longer, if the holder still has it.
--
-- KEYS    1 lock
-- ARGV    1 holder · 2 ms it lasts from now
-- RETURNS 1 when it was renewed, else 0
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
