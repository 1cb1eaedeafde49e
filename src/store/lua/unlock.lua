-- Gives a lock back, if the holder still has it.
--
-- KEYS    1 lock
-- ARGV    1 holder
-- RETURNS 1 when given back, else 0
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
