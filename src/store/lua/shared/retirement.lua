-- When a record may leave Redis for the archive. The sweep takes what has stood here long enough (retire-*.lua).
--! include shared/tow.lua

-- A tow may leave once it is terminal, owes nothing and waits for nobody.
local function may_leave(owes_something)
  local state = redis.call('HGET', TOW, 'state')
  local is_over = (state == 'released' or state == 'canceled') and not owes_something
  return is_over and redis.call('SCARD', TOW_TASKS) == 0 and redis.call('HGET', TOW, 'reconcile') ~= '1'
end

-- Notes since when a tow may leave; whatever changes that starts the wait anew.
local function note_retirement(ref, owes_something)
  if may_leave(owes_something) then
    redis.call('ZADD', RETIRE_TOWS, 'NX', now_ms(), ref)
  else
    redis.call('ZREM', RETIRE_TOWS, ref)
  end
end

-- Once archived, a tow is remembered for a while: what comes late for it is told from what comes early.
local function is_buried(ref)
  return redis.call('ZSCORE', TOMBSTONES, ref) ~= false
end
