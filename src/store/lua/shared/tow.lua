-- What every script about one tow shares. The key order is built in src/store/keys.ts (towKeys), nowhere else.
local TOW, REPORTS, TIMELINE, TOW_TASKS, PARKED, PROOF = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local DUE_TOWS, DUE_DELIVERIES = KEYS[7], KEYS[8]
local INDEX_TOWS, ATTENTION, SEARCH, TASKS, OPEN_TASKS = KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13]
local CONNECTION, HELD, EVENTS, IDEMPOTENCY, DELIVERY = KEYS[14], KEYS[15], KEYS[16], KEYS[17], KEYS[18]

-- The writer of a record wakes a worker itself; the pump looks only after that wake-up had its chance.
local WAKE_GRACE_MS = 1000
local IDEMPOTENCY_SECONDS = 86400
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

local function number_of(text)
  return tonumber(text) or 0
end

local function publish(kind, ref)
  redis.call('PUBLISH', EVENTS, cjson.encode({ type = kind, towing_reference_id = ref, at_ms = now_ms() }))
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

-- A task's id is `<subject>.<towing reference>`, so that opening it twice is opening it once.
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

local function is_settled(state)
  return state == 'accepted' or state == 'waived'
end

-- Moves the head past everything settled; returns the head, or nil when nothing is owed.
local function settle_head()
  local head = number_of(redis.call('HGET', TOW, 'head'))
  local tail = number_of(redis.call('HGET', TOW, 'tail'))
  while head <= tail and is_settled(report(head, 'state')) do
    head = head + 1
  end
  redis.call('HSET', TOW, 'head', head)
  if head > tail then
    return nil
  end
  return head
end

-- An invoice webhook that came after the first create was sent proves that the create worked.
local function is_proved(seq)
  local first_sent_us, proof = report(seq, 'first_sent_us'), redis.call('GET', PROOF)
  if report(seq, 'kind') ~= 'invoice' or first_sent_us == '' or not proof then
    return false
  end
  -- What the service refused outright made nothing; refused after an unanswered try, the try may have.
  local may_exist = report(seq, 'state') ~= 'refused' or number_of(report(seq, 'possible_effects')) > 0
  return may_exist and tonumber(proof) >= tonumber(first_sent_us)
end

-- Where a report rests between attempts: once a send without an answer may have worked, it stays unknown.
local function resting_state(seq)
  if report(seq, 'once') == '1' and number_of(report(seq, 'unanswered')) > 0 then
    return 'unknown'
  end
  return 'pending'
end

-- Sets the due mark to what the head of the outbox needs next, or removes it when only a person can go on.
local function reschedule(ref, now, wake_grace)
  local due = nil
  if redis.call('HGET', TOW, 'reconcile') == '1' then
    due = now + wake_grace
  else
    local head = settle_head()
    local lease_until = number_of(redis.call('HGET', TOW, 'lease_until'))
    if head then
      local state, next_at = report(head, 'state'), report(head, 'next_at')
      if lease_until > now then
        due = lease_until
      elseif state == 'sending' or ((state == 'unknown' or state == 'refused') and is_proved(head)) then
        due = now + wake_grace
      elseif (state == 'pending' or state == 'unknown') and next_at ~= '' then
        due = math.max(number_of(next_at), now + wake_grace)
      end
    end
  end
  if due then
    redis.call('ZADD', DUE_TOWS, due, ref)
  else
    redis.call('ZREM', DUE_TOWS, ref)
  end
  return due
end

local function raise_version(ref)
  local version = redis.call('HINCRBY', TOW, 'version', 1)
  publish('tow.changed', ref)
  return version
end

-- Settles a report as accepted: by the service's answer, by proof, or by hand.
local function accept_report(ref, seq, now, how)
  set_report(seq, { state = 'accepted', settled_at = now, next_at = '', attempt_id = '', error = '', hint = '' })
  close_task(ref, report(seq, 'id') .. '.' .. ref)
  -- A decision by hand has an entry of its own, with who and why.
  if how ~= 'by_hand' then
    remember_on_timeline(cjson.encode({ type = 'report.accepted', report_id = report(seq, 'id'), how = how }))
  end
end

local function waive_report(ref, seq, now, reason)
  set_report(seq, { state = 'waived', settled_at = now, next_at = '', attempt_id = '', reason = reason })
  close_task(ref, report(seq, 'id') .. '.' .. ref)
end

-- Appends reports to the outbox: [{ id, kind, body, once }], each owed from now on.
local function append_reports(list, now)
  for _, entry in ipairs(list) do
    local seq = redis.call('HINCRBY', TOW, 'tail', 1)
    set_report(seq, {
      id = entry.id,
      kind = entry.kind,
      state = 'pending',
      body = entry.body,
      once = entry.once,
      revision = 1,
      attempts = 0,
      created_at = now,
      next_at = now,
    })
  end
end

-- The effect of a request and the memory of it are one write; its answer is filled in by settle-answer.lua.
local function remembered_fingerprint(fingerprint)
  return fingerprint ~= '' and redis.call('HGET', IDEMPOTENCY, 'fingerprint')
end

-- What keeps a write from happening: the same request had its effect before, or somebody was faster. Nil: go on.
local function write_barrier(expected_version, fingerprint)
  local remembered = remembered_fingerprint(fingerprint)
  if remembered then
    return { 'remembered', remembered }
  end
  if redis.call('HGET', TOW, 'version') ~= expected_version then
    return { 'stale' }
  end
end

local function remember_effect(fingerprint)
  if fingerprint ~= '' then
    redis.call('HSET', IDEMPOTENCY, 'fingerprint', fingerprint)
    redis.call('EXPIRE', IDEMPOTENCY, IDEMPOTENCY_SECONDS)
  end
end

local function write_document(ref, document, state)
  local before = redis.call('HGET', TOW, 'state')
  local requested_at = redis.call('HGET', TOW, 'requested_at')
  redis.call('HSET', TOW, 'document', document, 'state', state)
  if before and before ~= state then
    redis.call('ZREM', INDEX_TOWS .. ':' .. before, ref)
  end
  redis.call('ZADD', INDEX_TOWS, requested_at, ref)
  redis.call('ZADD', INDEX_TOWS .. ':' .. state, requested_at, ref)
end

local function add_search_terms(ref, terms)
  for _, term in ipairs(terms) do
    redis.call('ZADD', SEARCH, 0, term .. '\n' .. ref)
  end
end

local function finish_delivery(ref, id, verdict)
  redis.call('HSET', DELIVERY, 'state', 'processed', 'verdict', verdict, 'processed_at', now_ms(), 'failures', 0)
  close_task(ref, 'delivery_failing-' .. id .. '.' .. ref)
  redis.call('ZREM', DUE_DELIVERIES, id)
  publish('delivery.processed', cjson.null)
end
