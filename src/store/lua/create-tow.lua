-- Makes a tow from its tow request and settles the delivery that carried it. Invoices parked for this tow become due.
--
-- KEYS    the keys of one tow and of a violation without a name (see shared/violation.lua)
-- ARGV    1 towing reference · 2 document · 3 delivery id · 4 timeline entry · 5 JSON array of search terms
--         6 the service's name of a violation that was not found, or '' · 7 tasks to open as JSON: [{ id, json }]
--         8 what lists find it by as JSON (see list_tow in shared/listing.lua)
--         9 id of the task of a request that is late · 10 that task as JSON
-- RETURNS { 'created', parked delivery id, … }, or { 'settled_before', … } when another worker had settled the delivery
--         meanwhile · { 'exists' } · { 'found' } the violation has become known since: look
--         again. Either it finds the tow when it gets its name, or the tow finds it. · { 'late' } the tow is over,
--         archived and remembered: the delivery is settled, its task is open, no tow is made
--! include shared/writes.lua
--! include shared/violation.lua

local ref, terms = ARGV[1], cjson.decode(ARGV[5])
if redis.call('EXISTS', TOW) == 1 then
  return { 'exists' }
end
if is_buried(ref) then
  if not finish_delivery(ref, ARGV[3], 'late') then
    return { 'settled_before' }
  end
  open_task(ref, ARGV[9], ARGV[10])
  return { 'late' }
end
local violation_id = ARGV[6] ~= '' and redis.call('HGET', REFERENCES, ARGV[6])
if violation_id and redis.call('EXISTS', VIOLATION .. violation_id) == 1 then
  return { 'found' }
end
local requested_at = redis.call('HGET', DELIVERY, 'received_at') or now_ms()
redis.call('HSET', TOW, 'version', 0, 'listed', 0, 'head', 1, 'tail', 0, 'requested_at', requested_at)
write_document(ref, ARGV[2], 'requested', cjson.decode(ARGV[8]))
if redis.call('SCARD', TOW_TASKS) > 0 then
  -- Something was asked about it before it came, as about an invoice that waited for it too long.
  redis.call('ZADD', ATTENTION, 'NX', now_ms(), ref)
end
add_search_terms(ref, terms)
remember_on_timeline(ARGV[4])
for _, task in ipairs(cjson.decode(ARGV[7])) do
  open_task(ref, task.id, task.json)
end
local has_settled = finish_delivery(ref, ARGV[3], 'created')
raise_version(ref)

local now = now_ms()
local reply = { has_settled and 'created' or 'settled_before' }
for _, id in ipairs(redis.call('LRANGE', PARKED, 0, -1)) do
  redis.call('ZADD', DUE_DELIVERIES, now, id)
  reply[#reply + 1] = id
end
redis.call('DEL', PARKED)
return reply
