-- Opens or closes a task of the whole operator; open already, or closed already, it stays as it is.
--
-- KEYS    the keys of any tow (see shared/tow.lua)
-- ARGV    1 open|close · 2 task id · 3 that task as JSON, '' when it is closed
-- RETURNS 1 when that changed something, else 0
--! include shared/tasks.lua

local has_changed
if ARGV[1] == 'open' then
  has_changed = open_general_task(ARGV[2], ARGV[3])
else
  has_changed = close_general_task(ARGV[2])
end
return has_changed and 1 or 0
