-- Takes tasks out of a group which an earlier version closed, or made ask something else, without knowing of groups.
--
-- KEYS    the keys of any tow (see shared/tow.lua)
-- ARGV    1 name of the group · 2… ids of tasks that stand in it
-- RETURNS how many of them did not belong there
--! include shared/tasks.lua

local name, removed = ARGV[1], 0
for at = 2, #ARGV do
  local json = redis.call('HGET', TASKS, ARGV[at])
  if not json or group_of(json) ~= name or not redis.call('ZSCORE', OPEN_TASKS, ARGV[at]) then
    removed = removed + redis.call('ZREM', GROUP .. name, ARGV[at])
  end
end
if redis.call('EXISTS', GROUP .. name) == 0 then
  redis.call('SREM', GROUPS, name)
end
return removed
