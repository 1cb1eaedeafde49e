-- Parks an invoice for a tow that is not known yet, only if it still is not.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 towing reference · 2 delivery id · 3 ms after which a parked invoice opens a task · 4 that task as JSON
--         5 id of the task of an invoice that is late · 6 that task as JSON
-- RETURNS 'parked' · 'exists' the tow came into being in between · 'late' the tow is over, archived and remembered: the
--         delivery is settled and a person is told · 'settled_before' another worker has done all that meanwhile
--! include shared/writes.lua

local ref, id, task_after_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
if redis.call('EXISTS', TOW) == 1 then
  return 'exists'
end
if is_buried(ref) then
  if not finish_delivery(ref, id, 'late') then
    return 'settled_before'
  end
  open_task(ref, ARGV[5], ARGV[6])
  return 'late'
end
local now = now_ms()
if redis.call('HGET', DELIVERY, 'state') ~= 'parked' then
  redis.call('HSET', DELIVERY, 'state', 'parked', 'parked_at', now)
  redis.call('RPUSH', PARKED, id)
  publish('delivery.parked', ref)
end
local task_at = number_of(redis.call('HGET', DELIVERY, 'parked_at')) + task_after_ms
if task_at <= now then
  open_task(ref, 'invoice_parked.' .. ref, ARGV[4])
  redis.call('ZREM', DUE_DELIVERIES, id)
else
  redis.call('ZADD', DUE_DELIVERIES, task_at, id)
end
return 'parked'
