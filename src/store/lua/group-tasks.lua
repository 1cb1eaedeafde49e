-- Enters open tasks that an earlier version opened into the groups by which lists find them.
--
-- KEYS    the keys of any tow (see shared/tow.lua)
-- ARGV    task ids
-- RETURNS how many of them stood in no group, or not in theirs
--! include shared/tasks.lua

local entered = 0
for _, id in ipairs(ARGV) do
  local json = redis.call('HGET', TASKS, id)
  if json and redis.call('ZSCORE', OPEN_TASKS, id) and not redis.call('ZSCORE', GROUP .. group_of(json), id) then
    enter_group(id, json)
    entered = entered + 1
  end
end
return entered
