-- Stores what an answer of the service shows about a rate limit. A closed budget is never opened earlier.
--
-- KEYS    1 circuits, which hold the budget states · 2 log of granted permits
-- ARGV    1 field of the budget state · 2 window, ms · 3 our calls per window, 0 = any number
--         4 calls per window that the service announced, '' = none · 5 of those, how many are left, '' = unknown
--         6 ms until their count starts again, '' = unknown · 7 how long an announced limit is followed, ms
--         8 429|'' · 9 the wait that a 429 asked for, ms, '' = none · 10 the first wait without one, ms · 11 the longest, ms
-- RETURNS how long the budget stays closed, ms
--! include shared/rate-limit.lua
--! include shared/now.lua

local now = now_ms()
local field, window_ms, ours = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local announced, left, reset_ms = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local state = budget_state(KEYS[1], field)
local closed_until = closed_until_of(state, now)
local is_closed = closed_until > now

-- A permit of a clock that jumped is none; it would be counted as one of these calls.
local function drop_insane_permits()
  local newest = redis.call('LINDEX', KEYS[2], 0)
  while newest and tonumber(newest) > now + PERMIT_AHEAD_MS do
    redis.call('LPOP', KEYS[2])
    newest = redis.call('LINDEX', KEYS[2], 0)
  end
end

-- Permits for the calls that the service has counted and our log has not: from before it announced the limit, or made by
-- other software with the same credentials. They end with the count of the service.
local function count_earlier_calls(limit)
  drop_insane_permits()
  local known = 0
  for _, at in ipairs(redis.call('LRANGE', KEYS[2], 0, limit - 1)) do
    known = known + (tonumber(at) > now - window_ms and 1 or 0)
  end
  if known == 0 then
    redis.call('DEL', KEYS[2])
  else
    redis.call('LTRIM', KEYS[2], 0, known - 1)
  end
  local at = math.min(now, now + (reset_ms or window_ms) - window_ms)
  for _ = 1, math.min(limit, announced - left) - known do
    redis.call('RPUSH', KEYS[2], string.format('%.0f', at))
  end
  redis.call('PEXPIRE', KEYS[2], 10 * window_ms)
end

if announced then
  local followed = effective_limit(ours, state, window_ms, now)
  state.limit, state.limit_at, state.limit_until = announced, now, now + tonumber(ARGV[7])
  local limit = effective_limit(ours, state, window_ms, now)
  if left and left < announced and limit > 0 and (followed == 0 or limit < followed) then
    count_earlier_calls(limit)
  end
end

if left == 0 and reset_ms and reset_ms > 0 then
  closed_until = math.max(closed_until, now + math.min(reset_ms, SANE_AHEAD_MS))
end

if ARGV[8] == '429' then
  -- A call that had left before the budget was closed is no further strike.
  local asked, strikes = tonumber(ARGV[9]), tonumber(state.strikes) or 0
  local own = math.min(tonumber(ARGV[11]), tonumber(ARGV[10]) * 2 ^ strikes)
  -- A service that asks for a few milliseconds, again and again, must not be called as often.
  local wait = asked and (asked < tonumber(ARGV[10]) and own or asked) or own
  if not is_closed then
    state.strikes = math.min(strikes + 1, 30)
  end
  if asked or not is_closed then
    closed_until = math.max(closed_until, now + math.min(wait, SANE_AHEAD_MS))
  end
  state.needs_trial, state.tried_at = true, nil
end

state.closed_until = closed_until > now and closed_until or state.closed_until
redis.call('HSET', KEYS[1], field, cjson.encode(state))
return string.format('%.0f', math.max(0, closed_until - now))
