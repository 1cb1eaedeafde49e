-- Puts a delivery back to work, as if it had just been accepted.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 delivery id · 2 fingerprint of the request to remember under its idempotency key, or ''
-- RETURNS { 'saved' } · { 'unknown' } · { 'remembered', fingerprint }
--! include shared/tow.lua

local remembered = remembered_fingerprint(ARGV[2])
if remembered then
  return { 'remembered', remembered }
end
if redis.call('EXISTS', DELIVERY) == 0 then
  return { 'unknown' }
end
if redis.call('HGET', DELIVERY, 'state') == 'processed' then
  redis.call('HSET', DELIVERY, 'state', 'waiting')
end
redis.call('HINCRBY', DELIVERY, 'replays', 1)
redis.call('ZADD', DUE_DELIVERIES, now_ms() + WAKE_GRACE_MS, ARGV[1])
remember_effect(ARGV[2])
return { 'saved' }
