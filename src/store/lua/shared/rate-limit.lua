-- A rate limit shared by all processes: a sliding log of granted permits, newest first. Permit n is never earlier than one
-- window after permit n - limit, so no window holds more than `limit` permits. The window is wider than the minute of the
-- limit, because calls that leave a minute apart may arrive a little closer together.
--
-- What the service says about the limit is one JSON object, the budget state (contracts/service/stored-budgets.ts):
--   limit, limit_until    its own limit, and until when it is followed if it is lower than ours
--   closed_until          no call before this time
--   needs_trial           after that, one call tries first; the others follow when TRIAL_SHARE of a minute has passed
--   tried_at              when that call was permitted
--   strikes               429 in a row

-- The longest closure that is followed. A later end was stored by a clock that jumped.
local SANE_AHEAD_MS = 3600000
-- A call takes a permit at most seconds ahead. One further ahead was granted by a clock that jumped, and is ignored.
local PERMIT_AHEAD_MS = 120000
-- How long the others wait for the answer of a trial, as a share of the window: 2 s of a minute.
local TRIAL_SHARE = 1 / 30
-- Without a limit, members that waited for a closed budget leave in slices of this many per second.
local SLICE_PER_SECOND = 100

local function budget_state(key, field)
  local text = redis.call('HGET', key, field)
  if not text then
    return {}
  end
  local is_json, state = pcall(cjson.decode, text)
  return is_json and type(state) == 'table' and state or {}
end

-- How long an announced limit is followed at most, in windows. A later end was stored by a clock that jumped.
local FOLLOWED_WINDOWS = 10

-- The limit that counts: the lower one of ours (0 = none) and the one that the service announced.
local function effective_limit(configured, state, window_ms, now)
  local announced, ends_at = tonumber(state.limit), tonumber(state.limit_until) or 0
  local is_followed = ends_at > now and ends_at <= now + FOLLOWED_WINDOWS * window_ms
  if not announced or announced < 1 or not is_followed then
    return configured
  end
  return configured == 0 and announced or math.min(configured, announced)
end

-- When the log has a permit for the member at `rank` in the waiting queue (0 = first), ms; `now` when one is free.
local function logged_permit_at(log, limit, window_ms, rank, now)
  local granted = redis.call('LINDEX', log, limit - 1 - rank % limit)
  local is_sane = granted and tonumber(granted) <= now + PERMIT_AHEAD_MS
  local free_at = is_sane and tonumber(granted) + window_ms or now
  return math.max(now, free_at) + math.floor(rank / limit) * window_ms
end

-- Until when the service closed the budget, ms; 0 when it did not.
local function closed_until_of(state, now)
  local closed_until = tonumber(state.closed_until) or 0
  return closed_until <= now + SANE_AHEAD_MS and closed_until or 0
end

-- When the time of the trial's answer is over, ms; nil before the trial.
local function trial_ends_at(state, window_ms, now)
  local tried_at = tonumber(state.tried_at)
  return tried_at and tried_at <= now + PERMIT_AHEAD_MS and tried_at + math.ceil(window_ms * TRIAL_SHARE) or nil
end

-- The earliest time at which the service wants the member at `rank`, ms; 0 when it did not ask to wait.
local function opens_at(state, rank, window_ms, now)
  local closed_until = closed_until_of(state, now)
  if not state.needs_trial then
    return closed_until
  end
  local ends_at = trial_ends_at(state, window_ms, now)
  if ends_at then
    return ends_at
  end
  return rank == 0 and closed_until or math.max(closed_until, now) + math.ceil(window_ms * TRIAL_SHARE)
end

-- When the member at `rank` gets its permit, ms; `now` when it may have one. `limit` 0 = none.
local function permit_at(log, limit, window_ms, rank, now, state)
  local opens = opens_at(state, rank, window_ms, now)
  local free = limit > 0 and logged_permit_at(log, limit, window_ms, rank, now) or now
  if opens <= now then
    return free
  end
  local behind = limit > 0 and math.floor(rank / limit) * window_ms or math.floor(rank / SLICE_PER_SECOND) * 1000
  return math.max(free, opens + behind)
end

-- When a permit is available in exchange for an unused one of the log, ms: right after the newest, since the unused one
-- leaves room for it.
local function exchanged_permit_at(log, now, opens)
  local newest = tonumber(redis.call('LINDEX', log, 0))
  return math.max(newest <= now + PERMIT_AHEAD_MS and math.max(now, newest) or now, opens)
end

-- Records a permit granted for `at`, which may be in the future.
local function grant_permit(log, limit, window_ms, at)
  if limit == 0 then
    return
  end
  redis.call('LPUSH', log, string.format('%.0f', at))
  redis.call('LTRIM', log, 0, limit - 1)
  redis.call('PEXPIRE', log, 10 * window_ms)
end

-- Records that a permit was granted for `at`: the trial, or the end of the closure when no 429 has answered the trial
-- within its time. A permit for later that is granted before then ends nothing.
local function pass_closure(key, field, state, window_ms, at, now)
  if not state.needs_trial then
    return
  end
  local ends_at = trial_ends_at(state, window_ms, now)
  if not ends_at then
    state.tried_at = at
  elseif now >= ends_at then
    state.needs_trial, state.tried_at, state.strikes, state.closed_until = nil, nil, nil, nil
  end
  redis.call('HSET', key, field, cjson.encode(state))
end
