-- Reads everything about one tow at one instant.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- RETURNS { now_ms, tow hash as a flat list, reports hash as a flat list, timeline,
--           tasks with the moment each was opened as a flat list }
--! include shared/tow.lua

local tasks = {}
for _, id in ipairs(redis.call('SMEMBERS', TOW_TASKS)) do
  tasks[#tasks + 1] = redis.call('HGET', TASKS, id)
  tasks[#tasks + 1] = redis.call('ZSCORE', OPEN_TASKS, id)
end
return {
  string.format('%.0f', now_ms()),
  redis.call('HGETALL', TOW),
  redis.call('HGETALL', REPORTS),
  redis.call('LRANGE', TIMELINE, 0, -1),
  tasks,
}
