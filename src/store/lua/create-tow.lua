-- Makes a tow from its tow request and settles the delivery that carried it. Invoices parked for this tow become due.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 towing reference · 2 document · 3 delivery id · 4 timeline entry · 5 JSON array of search terms
-- RETURNS { 'created', parked delivery id, … } or { 'exists' }
--! include shared/tow.lua

local ref, terms = ARGV[1], cjson.decode(ARGV[5])
if redis.call('EXISTS', TOW) == 1 then
  return { 'exists' }
end
local requested_at = redis.call('HGET', DELIVERY, 'received_at') or now_ms()
redis.call('HSET', TOW, 'version', 0, 'head', 1, 'tail', 0, 'requested_at', requested_at)
write_document(ref, ARGV[2], 'requested')
add_search_terms(ref, terms)
remember_on_timeline(ARGV[4])
finish_delivery(ref, ARGV[3], 'created')
raise_version(ref)

local now = now_ms()
local parked = redis.call('LRANGE', PARKED, 0, -1)
for _, id in ipairs(parked) do
  redis.call('ZADD', DUE_DELIVERIES, now, id)
end
redis.call('DEL', PARKED)
return { 'created', unpack(parked) }
