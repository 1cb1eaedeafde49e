-- A budget of calls: a sliding log of granted slots, newest first, shared by all processes. Slot n is never earlier than
-- one window after slot n - limit, so no window ever holds more than `limit` of them. The window is wider than the
-- minute it stands for, since calls granted a minute apart may arrive a little closer together.

-- A permit further ahead comes from a clock that jumped, and counts for nothing.
local SANE_AHEAD_MS = 3600000

-- The moment of the slot that whoever stands `rank` places behind the first in line will get; now when it is free.
local function slot_at(log, limit, window_ms, rank, now)
  local granted = redis.call('LINDEX', log, limit - 1 - rank % limit)
  local is_sane = granted and tonumber(granted) <= now + SANE_AHEAD_MS
  local free_at = is_sane and tonumber(granted) + window_ms or now
  return math.max(now, free_at) + math.floor(rank / limit) * window_ms
end

-- The moment of a slot that is taken in exchange for one of the log that was not used: right after the newest, since
-- without the unused one there is room for one more.
local function exchanged_slot_at(log, now)
  local newest = tonumber(redis.call('LINDEX', log, 0))
  return newest <= now + SANE_AHEAD_MS and math.max(now, newest) or now
end

-- Counts a slot at the moment it is for, which may lie ahead.
local function take_slot(log, limit, window_ms, at)
  redis.call('LPUSH', log, string.format('%.0f', at))
  redis.call('LTRIM', log, 0, limit - 1)
  redis.call('PEXPIRE', log, 10 * window_ms)
end
