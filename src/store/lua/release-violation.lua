-- Gives a claimed violation back without an attempt: no attempt is counted, and its slot of the budget is free again. A
-- question about a ticket that got no answer is a failure, from the first of which on the clock of giving up runs.
--
-- KEYS    the keys of one violation (see shared/violation.lua)
-- ARGV    1 our id · 2 revision · 3 lease token · 4 ms until it is due again · 5 what it waits for
--         6 why nobody could say whether there is a ticket, as JSON, or '' · 7 ms after its first failure at which it is
--         given up
-- RETURNS 'done' · 'late' the claim was lost
--! include shared/violation-gates.lua

local id, now = ARGV[1], now_ms()
if field('revision') ~= ARGV[2] or field('lease_token') ~= ARGV[3] then
  return 'late'
end
undo_claim(now)
if not has_ended(field('state')) then
  set_state(id, resting_state_of_violation())
  set_fields({ next_at = now + tonumber(ARGV[4]), waits_for = ARGV[5] })
  if ARGV[6] ~= '' then
    add_to_field('ticket_failures', 1)
    set_fields({ error = ARGV[6] })
    start_violation_clock(now, tonumber(ARGV[7]))
  end
end
raise_violation(id)
reschedule_violation(id, now, 0)
return 'done'
