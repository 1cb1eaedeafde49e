-- Stores what was found before sending a violation, the answer about a ticket first of all, and gives the claim back: due
-- at once, or, with a task, held until a person decides.
--
-- KEYS    the keys of one violation (see shared/violation.lua)
-- ARGV    1 our id · 2 revision · 3 lease token · 4 what was said of a ticket as JSON, or '' · 5 task id, or ''
--         6 that task as JSON
-- RETURNS 'done' · 'late' the claim was lost
--! include shared/violation-gates.lua

local id, now = ARGV[1], now_ms()
if field('revision') ~= ARGV[2] or field('lease_token') ~= ARGV[3] then
  return 'late'
end
-- Without an attempt the claim was one to ask for a ticket.
local is_about_ticket = field('attempt_id') == ''
undo_claim(now)
if ARGV[4] ~= '' then
  set_fields({ ticket = ARGV[4], ticket_failures = 0 })
  if number_of(field('failures')) == 0 then
    -- The clock of giving up ran for this question alone; it begins anew with the first failed send.
    set_fields({ first_failed_at = '', give_up_at = '', error = '' })
  end
end
if not has_ended(field('state')) then
  set_fields({ waits_for = '' })
  if ARGV[5] == '' then
    set_state(id, resting_state_of_violation())
    set_fields({ next_at = now })
  else
    set_state(id, 'held')
    set_fields({ next_at = '', held_because = is_about_ticket and 'ticket' or '' })
    open_general_task(ARGV[5], ARGV[6], id)
  end
end
raise_violation(id)
reschedule_violation(id, now, WAKE_GRACE_MS)
return 'done'
