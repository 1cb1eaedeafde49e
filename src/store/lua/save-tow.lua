-- Saves what a fact or a webhook changed on a tow. Report states are left alone: this only appends reports, and
-- withdraws those that surely had no effect.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 towing reference · 2 version the decision was made on · 3 document · 4 state · 5 changes as JSON:
--         { reports: [{ id, kind, body, once }], withdraw: [seq], withdraw_reason, timeline: [json],
--           open_tasks: [{ id, json }], close_tasks: [id], terms: [text], delivery_id, verdict, reconciled,
--           audit, listed: what lists find it by (see list_tow in shared/listing.lua) }
--         6 fingerprint of the request to remember under its idempotency key, or ''
-- RETURNS { 'saved', version, 'settled' when this settled the delivery, else '' } · { 'stale' } · { 'remembered', fingerprint }
--! include shared/outbox.lua
--! include shared/writes.lua
--! include shared/audit.lua

local ref, expected, changes = ARGV[1], ARGV[2], cjson.decode(ARGV[5])
local barrier = write_barrier(expected, ARGV[6])
if barrier then
  return barrier
end
local now = now_ms()
write_document(ref, ARGV[3], ARGV[4], changes.listed)
for _, seq in ipairs(changes.withdraw) do
  waive_report(ref, seq, now, changes.withdraw_reason)
  local entry = { type = 'report.waived', report_id = report(seq, 'id'), reason = changes.withdraw_reason }
  remember_on_timeline(cjson.encode(entry))
end
append_reports(ref, changes.reports, now)
for _, json in ipairs(changes.timeline) do
  remember_on_timeline(json)
end
for _, task in ipairs(changes.open_tasks) do
  open_task(ref, task.id, task.json)
end
for _, id in ipairs(changes.close_tasks) do
  close_task(ref, id)
end
add_search_terms(ref, changes.terms)
append_audit_if_any(changes.audit)
local has_settled = changes.delivery_id ~= '' and finish_delivery(ref, changes.delivery_id, changes.verdict)
if changes.reconciled then
  redis.call('HDEL', TOW, 'reconcile')
end
remember_effect(ARGV[6])
local version = raise_version(ref)
reschedule(ref, now, WAKE_GRACE_MS)
return { 'saved', version, has_settled and 'settled' or '' }
