-- What keeps a write from being made twice or on an outdated reading, and the parts of a tow that more than one script
-- writes.
--! include shared/tow.lua
--! include shared/tasks.lua
--! include shared/retirement.lua
--! include shared/listing.lua

local IDEMPOTENCY_SECONDS = 86400

-- The effect of a request and the memory of it are one write; its answer is filled in by settle-answer.lua.
local function remembered_fingerprint(fingerprint)
  return fingerprint ~= '' and redis.call('HGET', IDEMPOTENCY, 'fingerprint')
end

-- What keeps a write from happening: the same request had its effect before, or somebody was faster. Nil: go on.
local function write_barrier(expected_version, fingerprint)
  local remembered = remembered_fingerprint(fingerprint)
  if remembered then
    return { 'remembered', remembered }
  end
  if redis.call('HGET', TOW, 'version') ~= expected_version then
    return { 'stale' }
  end
end

local function remember_effect(fingerprint)
  if fingerprint ~= '' then
    redis.call('HSET', IDEMPOTENCY, 'fingerprint', fingerprint)
    redis.call('EXPIRE', IDEMPOTENCY, IDEMPOTENCY_SECONDS)
  end
end

-- A document, and what the lists find the tow by: its state, since when it is in it, and its crew.
-- `listed`: { since ms, or null when its record names no moment; crew, '' for nobody }
local function write_document(ref, document, state, listed)
  local before = redis.call('HGET', TOW, 'state')
  local requested_at = redis.call('HGET', TOW, 'requested_at')
  redis.call('HSET', TOW, 'document', document, 'state', state)
  if before and before ~= state then
    redis.call('ZREM', INDEX_TOWS .. ':' .. before, ref)
    redis.call('ZREM', SINCE .. before, ref)
  end
  redis.call('ZADD', INDEX_TOWS, requested_at, ref)
  redis.call('ZADD', INDEX_TOWS .. ':' .. state, requested_at, ref)
  list_tow(ref, state, listed)
end

-- The terms of a tow are kept beside it, so that all of them can be taken away with it.
local function add_search_terms(ref, terms)
  for _, term in ipairs(terms) do
    redis.call('ZADD', SEARCH, 0, term .. '\n' .. ref)
    redis.call('SADD', TERMS, term)
  end
end

local function settle_delivery(record, ref, id, verdict)
  local now = now_ms()
  redis.call('HSET', record, 'state', 'processed', 'verdict', verdict, 'processed_at', now, 'failures', 0)
  close_task(ref, 'delivery_failing-' .. id .. '.' .. ref)
  redis.call('ZREM', DUE_DELIVERIES, id)
  redis.call('ZADD', RETIRE_DELIVERIES, now, id)
  publish('delivery.processed', cjson.null)
end

-- True when this settled it: a worker that comes late, when another has long settled the delivery, changes nothing about
-- that.
local function finish_delivery(ref, id, verdict)
  if redis.call('HGET', DELIVERY, 'state') == 'processed' then
    redis.call('ZREM', DUE_DELIVERIES, id)
    return false
  end
  settle_delivery(DELIVERY, ref, id, verdict)
  return true
end
