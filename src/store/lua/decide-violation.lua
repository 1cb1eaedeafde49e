-- A person's decision on one violation: retry, correct, waive or accept. An accepted one is retried only while a person is
-- asked about its answer (`drift`); the caller has seen to that on this version.
--
-- KEYS    the keys of one violation (see shared/violation.lua); IDEMPOTENCY is that of the request
-- ARGV    1 our id · 2 version the decision was made on · 3 retry|correct|waive|accept
--         4 changes as JSON: { document, depends_on_ticket, reason, reference, terms: [text], audit }
--         5 fingerprint of the request to remember under its idempotency key, or ''
-- RETURNS { 'saved' } · { 'stale' } · { 'remembered', fingerprint }
--         { 'reference_taken' } it cannot be accepted under the name of another violation
--! include shared/violation-end.lua
--! include shared/writes.lua
--! include shared/audit.lua

local id, expected, action, changes = ARGV[1], ARGV[2], ARGV[3], cjson.decode(ARGV[4])
local remembered = remembered_fingerprint(ARGV[5])
if remembered then
  return { 'remembered', remembered }
end
if field('version') ~= expected then
  return { 'stale' }
end
if changes.reference ~= '' and other_owner(id, changes.reference) then
  return { 'reference_taken' }
end

-- Sends it again, as if for the first time.
local function send_again(now)
  stop_waiting_at_gate(id, now)
  -- What was not sent because of a ticket, or because nobody could tell of one, is sent all the same, once a person says so.
  if action == 'retry' and (field('held_because') == 'ticket' or number_of(field('ticket_failures')) > 0) then
    set_fields({ ticket_overruled = '1' })
  end
  if has_ended(field('state')) then
    owe_violation_again(id)
  end
  set_state(id, 'pending')
  -- A person who says "again" takes earlier unanswered attempts on himself; one more comes back to him.
  set_fields({ forgiven = field('unanswered'), next_at = now, hint = '', failures = 0, not_found = 0, forbidden = '' })
  set_fields({ drops = 0, connection_losses = 0, ticket_failures = 0, first_failed_at = '', give_up_at = '', held_because = '', waits_for = '' })
  close_general_task(violation_task(id), id)
end

local now = now_ms()
-- Who asks for a ticket right now asks about what is no longer the question.
if field('attempt_id') == '' then
  give_lease_back()
end
if action == 'waive' then
  end_violation(id, 'waived', now)
  set_fields({ reason = changes.reason, waits_for = '' })
elseif action == 'accept' then
  accept_violation(id, now, 'by_hand')
  set_fields({ reason = changes.reason })
  if changes.reference ~= '' then
    add_reference(id, changes.reference, { is_main = true })
  end
else
  if action == 'correct' then
    set_fields({ document = changes.document, depends_on_ticket = changes.depends_on_ticket, error = '' })
    -- Another plate or zone is another question.
    set_fields({ ticket = '', ticket_overruled = '' })
    add_to_field('revision', 1)
  end
  send_again(now)
end
add_violation_terms(id, changes.terms)
append_audit_if_any(changes.audit)
remember_effect(ARGV[5])
raise_violation(id)
reschedule_violation(id, now, WAKE_GRACE_MS)
return { 'saved' }
