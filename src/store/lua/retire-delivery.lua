-- Takes a settled delivery out of Redis, as it was read: one that was replayed since stays.
--
-- KEYS    the keys of one tow (see shared/tow.lua); of those only the delivery's are used
-- ARGV    1 delivery id · 2 the moment it was settled at, ms
-- RETURNS 'retired' · 'kept' · 'gone' there is no such delivery
--! include shared/ledger.lua

local id, settled_at = ARGV[1], ARGV[2]
local record = redis.call('HMGET', DELIVERY, 'state', 'processed_at')
local state, processed_at = record[1], record[2]
if not state then
  redis.call('ZREM', RETIRE_DELIVERIES, id)
  return 'gone'
end
if state ~= 'processed' then
  redis.call('ZREM', RETIRE_DELIVERIES, id)
  return 'kept'
end
if processed_at ~= settled_at then
  return 'kept'
end
redis.call('DEL', DELIVERY)
redis.call('ZREM', INDEX_DELIVERIES, id)
redis.call('ZREM', DUE_DELIVERIES, id)
redis.call('ZREM', RETIRE_DELIVERIES, id)
strike_delivery(id)
return 'retired'
