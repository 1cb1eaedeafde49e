-- Closes a task that needs no decision: a person has read it. The images of a violation that it was about go
-- then. Who resolves the question of a parked invoice no
-- longer waits for its tow: the deliveries that were asked about are set aside, until somebody replays them.
--
-- KEYS    the keys of one tow and one violation (see shared/violation.lua); DELIVERY is that of a delivery without a name,
--         with which the keys of the parked ones begin
-- ARGV    1 towing reference · 2 task id · 3 timeline entry · 4 fingerprint of the request to remember, or ''
--         5 its answer, remembered with it: the task itself is gone afterwards · 6 audit entry as JSON, or ''
--         7 the violation it is about, or ''
-- RETURNS { 'saved' } · { 'unknown' } · { 'remembered', fingerprint }
--! include shared/outbox.lua
--! include shared/violation-end.lua
--! include shared/writes.lua
--! include shared/audit.lua

local remembered = remembered_fingerprint(ARGV[4])
if remembered then
  return { 'remembered', remembered }
end
if redis.call('HEXISTS', TASKS, ARGV[2]) == 0 then
  return { 'unknown' }
end
close_task(ARGV[1], ARGV[2])
if ARGV[2] == 'invoice_parked.' .. ARGV[1] then
  for _, id in ipairs(redis.call('LRANGE', PARKED, 0, -1)) do
    -- One that is still due came later: its own question is yet to be asked.
    if not redis.call('ZSCORE', DUE_DELIVERIES, id) then
      redis.call('LREM', PARKED, 0, id)
      settle_delivery(DELIVERY .. id, ARGV[1], id, 'set_aside')
    end
  end
end
if redis.call('EXISTS', TOW) == 1 then
  remember_on_timeline(ARGV[3])
  raise_version(ARGV[1])
  note_retirement(ARGV[1], settle_head(ARGV[1]) ~= nil)
end
if ARGV[7] ~= '' and redis.call('EXISTS', VIOLATION) == 1 then
  local is_about_answer = ARGV[2] == 'violation_contract.' .. ARGV[7]
  if is_about_answer then
    settle_answer(ARGV[7])
  end
  raise_violation(ARGV[7])
  if is_about_answer then
    reschedule_violation(ARGV[7], now_ms(), WAKE_GRACE_MS)
  else
    note_violation_retirement(ARGV[7])
  end
end
append_audit_if_any(ARGV[6])
remember_effect(ARGV[4])
if ARGV[4] ~= '' then
  redis.call('HSET', IDEMPOTENCY, 'answer', ARGV[5])
end
return { 'saved' }
