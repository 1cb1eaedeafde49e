-- What a person must decide. The task of a tow has the id `<subject>.<towing reference>`, so that opening it twice is
-- opening it once; a task of the whole operator is its subject alone.
--! include shared/tow.lua

local function open_task(ref, id, json)
  redis.call('HSET', TASKS, id, json)
  redis.call('ZADD', OPEN_TASKS, 'NX', now_ms(), id)
  redis.call('SADD', TOW_TASKS, id)
  redis.call('ZADD', ATTENTION, 'NX', now_ms(), ref)
  publish('task.opened', ref)
end

local function close_task(ref, id)
  if redis.call('HDEL', TASKS, id) == 1 then
    publish('task.closed', ref)
  end
  redis.call('ZREM', OPEN_TASKS, id)
  redis.call('SREM', TOW_TASKS, id)
  if redis.call('SCARD', TOW_TASKS) == 0 then
    redis.call('ZREM', ATTENTION, ref)
  end
end

-- True when it was not open yet. A general task may be about a violation.
local function open_general_task(id, json, violation_id)
  local is_new = redis.call('HSETNX', TASKS, id, json) == 1
  if is_new then
    redis.call('ZADD', OPEN_TASKS, now_ms(), id)
    publish('task.opened', cjson.null, violation_id)
  end
  return is_new
end

-- True when it was open.
local function close_general_task(id, violation_id)
  redis.call('ZREM', OPEN_TASKS, id)
  local was_open = redis.call('HDEL', TASKS, id) == 1
  if was_open then
    publish('task.closed', cjson.null, violation_id)
  end
  return was_open
end
