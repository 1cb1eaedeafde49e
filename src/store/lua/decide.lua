-- A person's decision on one report: retry, correct, waive or accept. An accepted report is retried only while a person is
-- asked about its answer, and while no report of its tow is on its way; the caller has seen to that on this version.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 towing reference · 2 version the decision was made on · 3 seq · 4 retry|correct|waive|accept
--         5 changes as JSON: { document, body, reason, also_waive: [seq], terms: [text], timeline, audit,
--           listed: what lists find the tow by as it is corrected (see list_tow in shared/listing.lua) }
--         6 fingerprint of the request to remember under its idempotency key, or ''
-- RETURNS { 'saved', version } · { 'stale' } · { 'remembered', fingerprint }
--! include shared/gates.lua
--! include shared/writes.lua
--! include shared/audit.lua

local ref, expected, seq, action, changes = ARGV[1], ARGV[2], ARGV[3], ARGV[4], cjson.decode(ARGV[5])
local barrier = write_barrier(expected, ARGV[6])
if barrier then
  return barrier
end
local now = now_ms()
leave_held(ref)
if action == 'waive' then
  waive_report(ref, seq, now, changes.reason)
  for _, other in ipairs(changes.also_waive) do
    waive_report(ref, other, now, changes.reason)
  end
elseif action == 'accept' then
  accept_report(ref, seq, now, 'by_hand')
  set_report(seq, { reason = changes.reason })
else
  if is_settled(report(seq, 'state')) then
    owe_again(ref, seq)
  end
  if action == 'correct' then
    set_report(seq, { body = changes.body, error = '' })
    add_to_report(seq, 'revision', 1)
  end
  -- A person who says "again" takes earlier unanswered attempts on himself; one more comes back to him.
  local unanswered = number_of(report(seq, 'unanswered')) > 0 and 1 or 0
  stop_holding(ref, seq, now)
  set_report(seq, { next_at = now, hint = '', failures = 0, not_found = 0, unanswered = unanswered, forbidden = '' })
  set_report(seq, { drops = 0, connection_losses = 0 })
  set_report(seq, { state = resting_state(seq), first_failed_at = '', give_up_at = '' })
  close_task(ref, report(seq, 'id') .. '.' .. ref)
end
if changes.document ~= '' then
  redis.call('HSET', TOW, 'document', changes.document)
  list_tow(ref, redis.call('HGET', TOW, 'state'), changes.listed)
end
add_search_terms(ref, changes.terms)
remember_on_timeline(changes.timeline)
append_audit_if_any(changes.audit)
remember_effect(ARGV[6])
local version = raise_version(ref)
reschedule(ref, now, WAKE_GRACE_MS)
return { 'saved', version }
