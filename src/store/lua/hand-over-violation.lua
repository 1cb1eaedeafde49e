-- Hands a violation to a person: nothing more is sent until he decides. Changes nothing when it has moved on since the
-- claim that asked for it. What nobody could tell about before it was sent is held like one with a ticket.
--
-- KEYS    the keys of one violation (see shared/violation.lua)
-- ARGV    1 our id · 2 version it had · 3 task id · 4 that task as JSON
--         5 why: unknown|given_up|unchecked
-- RETURNS 'done' · 'late'
--! include shared/violation-end.lua

local id, now = ARGV[1], now_ms()
local state = field('state')
local is_same = field('version') == ARGV[2] and (state == 'pending' or state == 'unknown')
if not is_same or field('attempt_id') ~= '' then
  reschedule_violation(id, now, 0)
  return 'late'
end
set_fields({ next_at = '', waits_for = '' })
if ARGV[5] == 'unchecked' then
  set_state(id, 'held')
  set_fields({ held_because = 'ticket' })
end
open_general_task(ARGV[3], ARGV[4], id)
raise_violation(id)
reschedule_violation(id, now, 0)
return 'done'
