-- One step of the walk over the ledger: looks at the next few names and counts where each of them stands. Nothing is
-- ever computed from counters: whatever was acknowledged is looked for. At the end of the ledger what was counted
-- becomes the last complete walk, and the next walk begins. Any number of processes may take steps: each is atomic, and
-- one that comes too early does nothing.
--
-- KEYS    the keys of a tow, a delivery and a violation without a name (see shared/standing.lua): those of what the ledger
--         names are built from them here; and behind them, both hashes,
--         the walk that goes on: next_at when the next step may come, started_at, <kind>.<state>, <kind>.acknowledged,
--           <kind>.repaired, lost_names a JSON array, absent when nothing was found lost, cursor_score and cursor_name
--           of the last name looked at, until_score where this walk ends
--         the last complete walk: the same, and ended_at
-- ARGV    1 how many names a step looks at · 2 ms between steps · 3 ms between the beginnings of walks
--         4 id of the task about what is lost · 5 that task as JSON
-- RETURNS { 'early' } · { 'stepped' } · { 'ended' } a walk is complete; each with the ms until the next step
--! include shared/standing.lua

local LOST_NAMES_MAX = 100
local WALK, LAST_WALK = KEYS[#KEYS - 1], KEYS[#KEYS]
local names_max, pace_ms, walk_ms = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local task_id, task_json = ARGV[4], ARGV[5]
local now = now_ms()

local function value_of(field)
  return redis.call('HGET', WALK, field)
end

-- The names behind the cursor, each followed by its score. Names may come and go between steps, also the one at the
-- cursor: a name that sorts right behind it takes its place for a moment, so that Redis itself finds where to go on.
local function next_names()
  local score, from = value_of('cursor_score'), 0
  if score then
    local place = value_of('cursor_name') .. '\0'
    redis.call('ZADD', LEDGER, score, place)
    from = redis.call('ZRANK', LEDGER, place)
    redis.call('ZREM', LEDGER, place)
  end
  return redis.call('ZRANGE', LEDGER, from, from + names_max - 1, 'WITHSCORES')
end

local KIND_OF = { delivery = 'deliveries', report = 'reports', violation = 'violations' }

local function standing_of(kind, name)
  if kind == 'deliveries' then
    return standing_of_delivery(name, now)
  elseif kind == 'violations' then
    return standing_of_violation(name, now)
  end
  local ref, seq = string.match(name, '^(.*)\n(%d+)$')
  return standing_of_report(ref, tonumber(seq), now)
end

local counts, lost = {}, {}

local function count(kind, what)
  local field = kind .. '.' .. what
  counts[field] = (counts[field] or 0) + 1
end

local function look_at(name)
  local word, rest = string.match(name, '^(%l+)\n(.*)$')
  local kind = KIND_OF[word] or 'reports'
  -- One record that cannot be read must not end the walk: it is as good as lost.
  local is_readable, state, is_mended = pcall(standing_of, kind, rest)
  if not is_readable then
    state, is_mended = 'lost', false
  end
  count(kind, 'acknowledged')
  count(kind, state)
  if is_mended then
    count(kind, 'repaired')
  end
  if state == 'lost' then
    lost[#lost + 1] = name
  end
end

local function keep_lost_names()
  local kept = cjson.decode(value_of('lost_names') or '[]')
  for _, name in ipairs(lost) do
    if #kept < LOST_NAMES_MAX then
      kept[#kept + 1] = name
    end
  end
  redis.call('HSET', WALK, 'lost_names', cjson.encode(kept))
end

-- The next step of any process. A clock that was set back must not stop the walk.
local wait = number_of(value_of('next_at')) - now
if wait > 0 and wait <= math.max(pace_ms, walk_ms) then
  return { 'early', string.format('%.0f', wait) }
end
if not value_of('started_at') then
  local last = redis.call('ZRANGE', LEDGER, -1, -1, 'WITHSCORES')
  -- Names that come later belong to the next walk, or this one might never end.
  redis.call('HSET', WALK, 'started_at', now, 'until_score', last[2] or '0')
end

local names, until_score = next_names(), tonumber(value_of('until_score'))
local seen = 0
while names[2 * seen + 1] and tonumber(names[2 * seen + 2]) <= until_score do
  look_at(names[2 * seen + 1])
  seen = seen + 1
end
for field, number in pairs(counts) do
  redis.call('HINCRBY', WALK, field, number)
end
if #lost > 0 then
  keep_lost_names()
  open_general_task(task_id, task_json)
end
if seen == names_max then
  redis.call('HSET', WALK, 'cursor_name', names[2 * seen - 1], 'cursor_score', names[2 * seen], 'next_at', now + pace_ms)
  return { 'stepped', string.format('%.0f', pace_ms) }
end

if not value_of('lost_names') then
  close_general_task(task_id)
end
local next_at = math.max(now + pace_ms, tonumber(value_of('started_at')) + walk_ms)
redis.call('HSET', WALK, 'ended_at', now)
redis.call('RENAME', WALK, LAST_WALK)
redis.call('HSET', WALK, 'next_at', next_at)
return { 'ended', string.format('%.0f', next_at - now) }
