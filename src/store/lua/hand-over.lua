-- Hands the head of an outbox to a person: nothing more is sent until he decides. Changes nothing when the report has
-- moved on since the claim that asked for it.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 towing reference · 2 seq · 3 attempts it had · 4 task id · 5 that task as JSON
--         6 how many unanswered sends are allowed
-- RETURNS 'done' · 'late'
--! include shared/outbox.lua

local ref, seq = ARGV[1], ARGV[2]
local now = now_ms()
local state = report(seq, 'state')
local is_same = (state == 'pending' or state == 'unknown') and report(seq, 'attempts') == ARGV[3]
-- A person who said "again" meanwhile has taken it back.
local give_up_at = report(seq, 'give_up_at')
local is_over = give_up_at ~= '' and tonumber(give_up_at) <= now
local is_unknown = state == 'unknown' and number_of(report(seq, 'unanswered')) >= tonumber(ARGV[6])
if not is_same or not (is_over or is_unknown) or report(seq, 'attempt_id') ~= '' then
  reschedule(ref, now, 0)
  return 'late'
end
set_report(seq, { next_at = '' })
open_task(ref, ARGV[4], ARGV[5])
remember_on_timeline(cjson.encode({ type = 'report.handed_over', report_id = report(seq, 'id') }))
raise_version(ref)
reschedule(ref, now, 0)
return 'done'
