-- Stores the answer of a request with an Idempotency-Key, unless one is stored. All requests get the first one.
--
-- KEYS    1 idempotency record
-- ARGV    1 answer
-- RETURNS the first answer
if redis.call('EXISTS', KEYS[1]) == 0 then
  return ARGV[1]
end
redis.call('HSETNX', KEYS[1], 'answer', ARGV[1])
return redis.call('HGET', KEYS[1], 'answer')
