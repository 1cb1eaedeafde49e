-- The answer of a request with an idempotency key: the first one stored is the one everybody gets.
--
-- KEYS    1 idempotency record
-- ARGV    1 answer
-- RETURNS the answer that counts
if redis.call('EXISTS', KEYS[1]) == 0 then
  return ARGV[1]
end
redis.call('HSETNX', KEYS[1], 'answer', ARGV[1])
return redis.call('HGET', KEYS[1], 'answer')
