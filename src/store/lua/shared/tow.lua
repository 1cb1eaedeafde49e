-- What every script about one tow shares. The key order is built in src/store/keys.ts (towKeys), nowhere else.
local TOW, REPORTS, TIMELINE, TOW_TASKS, PARKED, PROOF, TERMS =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local DUE_TOWS, DUE_DELIVERIES, DUE_VIOLATIONS, INDEX_TOWS, INDEX_DELIVERIES = KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12]
local ATTENTION, SEARCH, TASKS, OPEN_TASKS = KEYS[13], KEYS[14], KEYS[15], KEYS[16]
local GATES, HELD, PROBES, SLOTS, SLOT_WAITING = KEYS[17], KEYS[18], KEYS[19], KEYS[20], KEYS[21]
local LEDGER, AUDIT, RETIRE_TOWS, RETIRE_DELIVERIES, TOMBSTONES = KEYS[22], KEYS[23], KEYS[24], KEYS[25], KEYS[26]
local EVENTS, IDEMPOTENCY, DELIVERY = KEYS[27], KEYS[28], KEYS[29]

-- By which lists find tows besides by their state, every tow in each of them once or not at all; scores in ms:
--   <INDEX_TOWS>:since:<state>  by the moment it came into that state
--   <INDEX_TOWS>:unsent         by the moment from which on the head of its outbox is owed
--   <INDEX_TOWS>:crew:<crew>    by the moment of its request; the crew '' is nobody
--   <INDEX_TOWS>:crews          the names of the crews that have any, all of the same score
local SINCE, UNSENT, CREW, CREWS = INDEX_TOWS .. ':since:', INDEX_TOWS .. ':unsent', INDEX_TOWS .. ':crew:', INDEX_TOWS .. ':crews'

-- The writer of a record wakes a worker itself; the pump looks only after that wake-up had its chance.
local WAKE_GRACE_MS = 1000
-- Of a report's attempts the first 5 and the last 20 are kept; the count tells how many there were.
local ATTEMPTS_FIRST, ATTEMPTS_LAST = 5, 20

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Finer than now_ms: which of an invoice request and an invoice webhook came first decides whether one proves the other.
local function now_us()
  local time = redis.call('TIME')
  return string.format('%.0f', time[1] * 1000000 + time[2])
end

local function number_of(text)
  return tonumber(text) or 0
end

-- Field `name` of report `seq`; '' when it was never set.
local function report(seq, name)
  return redis.call('HGET', REPORTS, seq .. ':' .. name) or ''
end

local function set_report(seq, values)
  for name, value in pairs(values) do
    redis.call('HSET', REPORTS, seq .. ':' .. name, value)
  end
end

local function add_to_report(seq, name, amount)
  return redis.call('HINCRBY', REPORTS, seq .. ':' .. name, amount)
end

-- About a tow, about a violation, or, with a null reference alone, about the whole operator.
local function publish(kind, ref, violation_id)
  local event = { type = kind, towing_reference_id = ref, violation_id = violation_id, at_ms = now_ms() }
  redis.call('PUBLISH', EVENTS, cjson.encode(event))
end

-- Each entry carries the moment it was recorded, in Redis time, before its JSON.
local function remember_on_timeline(json)
  redis.call('RPUSH', TIMELINE, string.format('%.0f %s', now_ms(), json))
end

local function log_attempt(seq, json)
  local stored = report(seq, 'log')
  local log = stored == '' and {} or cjson.decode(stored)
  -- An ack whose reply was lost is made again.
  if log[#log] == json then
    return
  end
  log[#log + 1] = json
  if #log > ATTEMPTS_FIRST + ATTEMPTS_LAST then
    table.remove(log, ATTEMPTS_FIRST + 1)
  end
  set_report(seq, { log = cjson.encode(log) })
end

-- The tow remembers up to which version its lists were written with it (`listed`). An earlier version of ours raises the
-- version alone and so is found out (src/store/old-records.ts): what comes after it does not hide it.
local function raise_version(ref)
  local version = redis.call('HINCRBY', TOW, 'version', 1)
  if redis.call('HGET', TOW, 'listed') == tostring(version - 1) then
    redis.call('HSET', TOW, 'listed', version)
  end
  publish('tow.changed', ref)
  return version
end
