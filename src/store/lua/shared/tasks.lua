-- What a person must decide. The task of a tow has the id `<subject>.<towing reference>`, so that opening it twice is
-- opening it once; a task of the whole operator is its subject alone.
--! include shared/tow.lua

-- What a task asks: its type, and where it is about a report or an operation that kind too, as `<type>.<kind>`. Read as
-- text: a quotation mark within a value is written with a backslash before it, and an escape that cjson refuses harms
-- nothing.
local function group_of(json)
  local kind = string.match(json, '"report_id":"(%a+)%-') or string.match(json, '"operation":"(%a+)"')
  local type = string.match(json, '"type":"([^"]*)"') or ''
  return kind and type .. '.' .. kind or type
end

-- Open tasks by what they ask, each by the moment it was opened; and the groups that have any.
local GROUP, GROUPS = OPEN_TASKS .. ':group:', OPEN_TASKS .. ':groups'

local function enter_group(id, json)
  local group = group_of(json)
  redis.call('ZADD', GROUP .. group, redis.call('ZSCORE', OPEN_TASKS, id), id)
  redis.call('SADD', GROUPS, group)
end

local function leave_group(id, json)
  local group = group_of(json)
  redis.call('ZREM', GROUP .. group, id)
  if redis.call('EXISTS', GROUP .. group) == 0 then
    redis.call('SREM', GROUPS, group)
  end
end

-- Takes a task away; true when it was open.
local function forget_task(id)
  local json = redis.call('HGET', TASKS, id)
  redis.call('ZREM', OPEN_TASKS, id)
  if not json then
    return false
  end
  redis.call('HDEL', TASKS, id)
  leave_group(id, json)
  return true
end

-- Open already, it asks from now on what is asked now, and stays as old as it is. A question may come before its tow.
local function open_task(ref, id, json)
  local before = redis.call('HGET', TASKS, id)
  if before then
    leave_group(id, before)
  end
  redis.call('HSET', TASKS, id, json)
  redis.call('ZADD', OPEN_TASKS, 'NX', now_ms(), id)
  enter_group(id, json)
  redis.call('SADD', TOW_TASKS, id)
  if redis.call('EXISTS', TOW) == 1 then
    redis.call('ZADD', ATTENTION, 'NX', now_ms(), ref)
  end
  publish('task.opened', ref)
end

local function close_task(ref, id)
  if forget_task(id) then
    publish('task.closed', ref)
  end
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
    enter_group(id, json)
    publish('task.opened', cjson.null, violation_id)
  end
  return is_new
end

-- True when it was open.
local function close_general_task(id, violation_id)
  local was_open = forget_task(id)
  if was_open then
    publish('task.closed', cjson.null, violation_id)
  end
  return was_open
end
