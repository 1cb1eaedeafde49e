-- Enters open tasks that an earlier version opened into the groups by which lists find them.
--
-- KEYS    the keys of any tow (see shared/tow.lua)
-- ARGV    task ids
-- RETURNS how many of them are open
--! include shared/tasks.lua

local open = 0
for _, id in ipairs(ARGV) do
  local json = redis.call('HGET', TASKS, id)
  if json and redis.call('ZSCORE', OPEN_TASKS, id) then
    enter_group(id, json)
    open = open + 1
  end
end
return open
