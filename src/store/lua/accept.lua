-- Stores one webhook delivery: the write that a 200 acknowledges.
--
-- KEYS    the keys of one tow (see shared/tow.lua); DELIVERY is the record, and its existence is the seen-key
-- ARGV    1 delivery id · 2 kind · 3 towing reference · 4 raw body · 5 verified|unverified · 6 signature id or ''
-- RETURNS 'accepted' when stored now, 'already_known' when stored before
--! include shared/ledger.lua

local id, kind, ref = ARGV[1], ARGV[2], ARGV[3]
if redis.call('EXISTS', DELIVERY) == 1 then
  redis.call('HINCRBY', DELIVERY, 'copies', 1)
  return 'already_known'
end
local now = now_ms()
redis.call('HSET', DELIVERY, 'id', id, 'kind', kind, 'towing_reference_id', ref, 'raw_body', ARGV[4], 'verified', ARGV[5],
  'signature_id', ARGV[6], 'state', 'waiting', 'received_at', now, 'copies', 1, 'failures', 0)
redis.call('ZADD', INDEX_DELIVERIES, now, id)
enter_delivery(id, now)
redis.call('ZADD', DUE_DELIVERIES, now + WAKE_GRACE_MS, id)
if kind == 'tow_invoice' and redis.call('EXISTS', TOW) == 1 then
  -- Proof that an invoice exists: read by the claim of a second create. Before there is a tow nothing can have been
  -- sent for it, so there is nothing to prove.
  redis.call('SET', PROOF, now_us())
  redis.call('ZADD', DUE_TOWS, 'LT', now + WAKE_GRACE_MS, ref)
end
publish('delivery.accepted', ref)
return 'accepted'
