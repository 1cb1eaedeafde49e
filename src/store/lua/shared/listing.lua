-- What lists find a tow by besides its state. The tow remembers the crew it is listed under.
--! include shared/tow.lua

local function leave_crew(ref, crew)
  redis.call('ZREM', CREW .. crew, ref)
  if redis.call('EXISTS', CREW .. crew) == 0 then
    redis.call('ZREM', CREWS, crew)
  end
end

-- `listed`: { since ms, or null when its record names no moment; crew, '' for nobody }
local function list_tow(ref, state, listed)
  local requested_at = redis.call('HGET', TOW, 'requested_at')
  redis.call('ZADD', SINCE .. state, listed.since == cjson.null and requested_at or listed.since, ref)
  local before = redis.call('HGET', TOW, 'crew')
  if before and before ~= listed.crew then
    leave_crew(ref, before)
  end
  redis.call('HSET', TOW, 'crew', listed.crew)
  redis.call('ZADD', CREW .. listed.crew, requested_at, ref)
  if listed.crew ~= '' then
    redis.call('ZADD', CREWS, 0, listed.crew)
  end
end

-- Takes a tow out of every list but those of its tasks.
local function unlist_tow(ref)
  local state = redis.call('HGET', TOW, 'state')
  for _, rows in ipairs({ INDEX_TOWS, INDEX_TOWS .. ':' .. state, SINCE .. state, UNSENT }) do
    redis.call('ZREM', rows, ref)
  end
  local crew = redis.call('HGET', TOW, 'crew')
  if crew then
    leave_crew(ref, crew)
  end
end
