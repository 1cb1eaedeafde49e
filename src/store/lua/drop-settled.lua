-- Removes the due mark of a delivery that is settled or gone; one that still waits keeps it.
--
-- KEYS    1 delivery · 2 due set of deliveries
-- ARGV    1 delivery id
-- RETURNS 1 when removed, else 0
local state = redis.call('HGET', KEYS[1], 'state')
if not state or state == 'processed' then
  return redis.call('ZREM', KEYS[2], ARGV[1])
end
return 0
