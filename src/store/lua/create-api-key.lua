-- Stores a new API key, of which only the hash is known here.
--
-- KEYS    1 api keys by id · 2 api key ids by hash · 3 idempotency record
-- ARGV    1 id · 2 hash · 3 record as JSON · 4 fingerprint of the request to remember, or ''
--         5 its answer, without the key itself
-- RETURNS { 'saved' } · { 'remembered', fingerprint }
if ARGV[4] ~= '' then
  local remembered = redis.call('HGET', KEYS[3], 'fingerprint')
  if remembered then
    return { 'remembered', remembered }
  end
  redis.call('HSET', KEYS[3], 'fingerprint', ARGV[4], 'answer', ARGV[5])
  redis.call('EXPIRE', KEYS[3], 86400)
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[1])
return { 'saved' }
