-- What every script about one violation shares. The key order is built in src/store/keys.ts (violationKeys): first the
-- keys of a tow, then these. A violation is one hash; its due mark, its lease and its attempts are like those of a report,
-- but it stands for itself and in no line behind others.
--
-- Fields of the hash beside those that src/contracts/violations.ts reads: created_at · alias · told (violation-names.lua) ·
-- sent_revision that of the first attempt that may have worked · provable 1 when a tow request may prove it ·
-- depends_on_ticket 1 when an active ticket would speak against it · not_found, unanswered, connection_losses, drops · forgiven how many of the unanswered attempts
-- a person has taken on himself · forbidden · lease_token, lease_until · slot_at · held_by, held_since ·
-- held_because `ticket` · drift 1 while a person is asked about the answer by which it was accepted: its images stay ·
-- unfinished the version since which there is something to clear up behind it
--! include shared/tow.lua
--! include shared/tasks.lua
--! include shared/ledger.lua

local VIOLATION, VIOLATION_TERMS, INDEX_VIOLATIONS, SEARCH_VIOLATIONS = KEYS[30], KEYS[31], KEYS[32], KEYS[33]
local ALIASES, REFERENCES, VIOLATION_SLOTS, VIOLATION_LINE = KEYS[34], KEYS[35], KEYS[36], KEYS[37]
local RETIRE_VIOLATIONS = KEYS[38]

-- A field; '' when it was never set.
local function field(name)
  return redis.call('HGET', VIOLATION, name) or ''
end

local function set_fields(values)
  for name, value in pairs(values) do
    redis.call('HSET', VIOLATION, name, value)
  end
end

local function add_to_field(name, amount)
  return redis.call('HINCRBY', VIOLATION, name, amount)
end

-- The name of a violation among tows: of what a gate holds, and of what has failed or was forbidden (gates.lua).
local function member_of(id)
  return 'violation ' .. id
end

local function violation_task(id)
  return 'violation.' .. id
end

-- Tasks that only inform; a settled violation stays until somebody has read them.
local function informing_tasks(id)
  return { 'violation_contract.' .. id, 'violation_before_correction.' .. id }
end

local function has_ended(state)
  return state == 'accepted' or state == 'waived'
end

local function set_state(id, state)
  local before = field('state')
  if before == state then
    return
  end
  if before ~= '' then
    redis.call('ZREM', INDEX_VIOLATIONS .. ':' .. before, id)
  end
  redis.call('HSET', VIOLATION, 'state', state)
  redis.call('ZADD', INDEX_VIOLATIONS .. ':' .. state, field('created_at'), id)
end

-- The terms of a violation are kept beside it, so that all of them can be taken away with it.
local function add_violation_terms(id, terms)
  for _, term in ipairs(terms) do
    redis.call('ZADD', SEARCH_VIOLATIONS, 0, term .. '\n' .. id)
    redis.call('SADD', VIOLATION_TERMS, term)
  end
end

-- An attempt that may have worked; a proof may be about the form it sent.
local function note_possible_effect()
  add_to_field('possible_effects', 1)
  redis.call('HSETNX', VIOLATION, 'sent_revision', field('revision'))
end

local function raise_violation(id)
  local version = redis.call('HINCRBY', VIOLATION, 'version', 1)
  publish('violation.changed', cjson.null, id)
  return version
end

local function log_violation_attempt(json)
  local stored = field('log')
  local log = stored == '' and {} or cjson.decode(stored)
  -- An ack whose reply was lost is made again.
  if log[#log] == json then
    return
  end
  log[#log + 1] = json
  if #log > ATTEMPTS_FIRST + ATTEMPTS_LAST then
    table.remove(log, ATTEMPTS_FIRST + 1)
  end
  set_fields({ log = cjson.encode(log) })
end

-- A violation may leave for the archive once it is settled, cleared up behind, and nobody is asked about it.
local function violation_may_leave(id)
  local is_over = has_ended(field('state')) and field('unfinished') == ''
  local is_asked = redis.call('HEXISTS', TASKS, violation_task(id)) == 1
  for _, task_id in ipairs(informing_tasks(id)) do
    is_asked = is_asked or redis.call('HEXISTS', TASKS, task_id) == 1
  end
  return is_over and not is_asked
end

-- Notes since when a violation may leave; whatever changes that starts the wait anew.
local function note_violation_retirement(id)
  if violation_may_leave(id) then
    redis.call('ZADD', RETIRE_VIOLATIONS, 'NX', now_ms(), id)
  else
    redis.call('ZREM', RETIRE_VIOLATIONS, id)
  end
end

-- The moment it needs a worker next, nil when only a person can go on, or nothing is left to do.
local function due_of_violation(now, wake_grace)
  local state, next_at = field('state'), field('next_at')
  local lease_until = number_of(field('lease_until'))
  if lease_until > now then
    return lease_until
  end
  if has_ended(state) then
    return field('unfinished') ~= '' and now + wake_grace or nil
  end
  if state == 'sending' then
    return now + wake_grace
  end
  if (state ~= 'pending' and state ~= 'unknown') or next_at == '' then
    return nil
  end
  local due = math.max(number_of(next_at), now + wake_grace)
  local give_up_at = field('give_up_at')
  return give_up_at == '' and due or math.min(due, math.max(number_of(give_up_at), now + wake_grace))
end

-- Sets the due mark to what it needs next, or removes it.
local function reschedule_violation(id, now, wake_grace)
  local due = due_of_violation(now, wake_grace)
  if due then
    redis.call('ZADD', DUE_VIOLATIONS, due, id)
  else
    redis.call('ZREM', DUE_VIOLATIONS, id)
    redis.call('ZREM', VIOLATION_LINE, id)
  end
  note_violation_retirement(id)
  return due
end
