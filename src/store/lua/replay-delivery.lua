-- Puts a delivery back to work, as if it had just been accepted.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 delivery id · 2 fingerprint of the request to remember under its idempotency key, or ''
--         3 audit entry as JSON, or ''
-- RETURNS { 'saved' } · { 'unknown' } · { 'remembered', fingerprint }
--! include shared/writes.lua
--! include shared/audit.lua

local remembered = remembered_fingerprint(ARGV[2])
if remembered then
  return { 'remembered', remembered }
end
if redis.call('EXISTS', DELIVERY) == 0 then
  return { 'unknown' }
end
if redis.call('HGET', DELIVERY, 'state') == 'processed' then
  redis.call('HSET', DELIVERY, 'state', 'waiting')
  redis.call('ZREM', RETIRE_DELIVERIES, ARGV[1])
end
redis.call('HINCRBY', DELIVERY, 'replays', 1)
redis.call('ZADD', DUE_DELIVERIES, now_ms() + WAKE_GRACE_MS, ARGV[1])
append_audit_if_any(ARGV[3])
remember_effect(ARGV[2])
return { 'saved' }
