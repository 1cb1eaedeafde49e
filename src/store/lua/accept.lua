-- Stores webhook deliveries. A 200 to the service acknowledges this write. A delivery is known when its record exists.
-- What may raise on damaged data comes before the records, or after all else is stored: a call that failed is sent
-- again, and a record that it left behind is known then.
--
-- KEYS    1 deliveries by time of receipt · 2 due deliveries · 3 due tows · 4 stream of changes
--         then the key of each delivery, then the key of the tow of each invoice webhook, in the same order
-- ARGV    1 version of new records; its unique part also ends the version of each proved tow
--         2 how long their jobs have time before the scheduler adds others, ms
--         then per delivery: id · kind · towing reference · raw body · true|false · signature id or ''
--         · signed time of sending, ms, or ''. A repeated call keeps that of the first: its content is as old as that.
-- RETURNS per delivery: 'accepted' when stored now, 'already_known' when stored before
--! include shared/now.lua

local SHARED_KEYS = 4
local SHARED_ARGS = 2
local FIELDS = 7
-- After a failover, writes that were lost may be followed by others of the same number.
local unique = string.match(ARGV[1], '%..*')
local now = now_ms()
local now_text = string.format('%.0f', now)

-- Stores the time of an invoice webhook in its tow: it proves an invoice request that was sent before. Without a tow there
-- is nothing to prove.
local function prove(tow, ref)
  if redis.call('HEXISTS', tow, 'head') == 0 then
    return
  end
  local version = string.match(redis.call('HGET', tow, 'v'), '^%d+')
  redis.call('HSET', tow, 'v', string.format('%.0f%s', tonumber(version) + 1, unique), 'proof', now_text)
  redis.call('ZADD', KEYS[3], 'LT', now_text, ref)
end

local function append(list, one, other)
  list[#list + 1] = one
  list[#list + 1] = other
end

-- A delivery that is known already has no fields to store.
local deliveries = {}
local count = (#ARGV - SHARED_ARGS) / FIELDS
local invoices = 0
local is_known = {}
-- Times and ids of what is stored now: one command adds all of them to a list.
local stored, due = {}, {}
local due_at = string.format('%.0f', now + tonumber(ARGV[2]))
for place = 1, count do
  local before = SHARED_ARGS + FIELDS * (place - 1)
  local id, kind, ref, raw_body, verified, signature_id, signed_at = unpack(ARGV, before + 1, before + FIELDS)
  local delivery = { id = id, record = KEYS[SHARED_KEYS + place], ref = ref }
  if kind == 'tow_invoice' then
    invoices = invoices + 1
    delivery.invoiced_tow = KEYS[SHARED_KEYS + count + invoices]
  end
  if not is_known[id] and redis.call('EXISTS', delivery.record) == 0 then
    append(stored, now_text, id)
    append(due, due_at, id)
    delivery.fields = { 'v', ARGV[1], 'id', id, 'kind', kind, 'towingReferenceId', ref, 'rawBody', raw_body,
      'state', 'waiting', 'receivedAtMs', now_text }
    -- Fields with a default are left out: most calls have no signature.
    if verified == 'true' then
      append(delivery.fields, 'verified', verified)
    end
    if signature_id ~= '' then
      append(delivery.fields, 'signatureId', signature_id)
    end
    if signed_at ~= '' then
      append(delivery.fields, 'signedAtMs', signed_at)
    end
  end
  is_known[id] = true
  deliveries[place] = delivery
end

if #stored > 0 then
  redis.call('ZADD', KEYS[1], unpack(stored))
  redis.call('ZADD', KEYS[2], unpack(due))
end
for _, delivery in ipairs(deliveries) do
  if delivery.fields then
    redis.call('HSET', delivery.record, unpack(delivery.fields))
  elseif redis.call('HSETNX', delivery.record, 'copies', 2) == 0 then
    redis.call('HINCRBY', delivery.record, 'copies', 1)
  end
end

local replies = {}
for place, delivery in ipairs(deliveries) do
  replies[place] = delivery.fields and 'accepted' or 'already_known'
  if delivery.fields then
    if delivery.invoiced_tow then
      prove(delivery.invoiced_tow, delivery.ref)
    end
    -- As store/ops/changes.ts encodes it.
    local change = { 'delivery.accepted', 'delivery', delivery.id, 1, { towing_reference_id = delivery.ref } }
    redis.call('XADD', KEYS[4], '*', 'c', cjson.encode(change))
  end
end
return replies
