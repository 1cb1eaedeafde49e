-- Notes that what a settled violation left behind is cleared up, as far as it was known then: a name that came since is
-- still to be looked for.
--
-- KEYS    the keys of one violation (see shared/violation.lua)
-- ARGV    1 our id · 2 version that was cleared up behind
-- RETURNS 'done' · 'late' · 'gone'
--! include shared/violation-end.lua

local id, now = ARGV[1], now_ms()
if redis.call('EXISTS', VIOLATION) == 0 then
  return 'gone'
end
local unfinished = field('unfinished')
local is_done = has_ended(field('state')) and unfinished ~= '' and tonumber(unfinished) <= tonumber(ARGV[2])
if is_done then
  set_fields({ unfinished = '' })
  raise_violation(id)
end
reschedule_violation(id, now, 0)
return is_done and 'done' or 'late'
