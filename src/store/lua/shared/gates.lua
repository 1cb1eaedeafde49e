-- What holds sending, whichever tow or violation it is for. A gate is closed until a moment; then one of them at a time
-- may try it, all others wait. Whoever gets through opens it, and everything held is due at once. Fields of the hash
-- GATES:
--
--   connection.until, connection.failures     no token, a wrong address, or something that answers in place of the service
--   connection.safe_only                      1 until the token call works again, where calls into it may have worked: no create tries
--   outage.until, outage.probes               the breaker: too many calls of too many tows failed in a row
--   outage.failures, outage.tows              what was counted towards it
--   paused.<kind>.until                       an operation the service forbids (403)
--   <gate>.last_probe                         who tried last; of an outage also `token`
--   forbidden.<kind>                          those it was forbidden for, before the pause
--
-- HELD:<gate> are the tows held by one gate, PROBES:<gate> those of them whose head is safe to repeat; a tow is held by
-- one gate at a time. A violation stands among the tows as `violation <id>` (member_of in violation.lua) and is never safe
-- to repeat.
--! include shared/outbox.lua

local OUTAGE_FAILURES, OUTAGE_TOWS, PAUSE_TOWS = 5, 3, 3
local PAUSE_PROBE_MS = 300000
-- Of those that wait only a few look when a gate may be tried: thousands would all find that another was faster.
local LOOKING, LOOK_AGAIN_MS = 5, 600000
-- The longest a gate is closed without a try. For the connection it is five minutes, the turn of another tow included.
local CLOSED_MAX_MS, CONNECTION_CLOSED_MAX_MS = 3600000, 290000

local function gate(field)
  return redis.call('HGET', GATES, field) or ''
end

local function set_gate(field, value)
  redis.call('HSET', GATES, field, value)
end

local function gates_for(kind)
  return { 'connection', 'outage', 'paused.' .. kind }
end

-- The gate that holds a call of this kind now and until when; nil when none does.
local function closed_gate(kind, now)
  for _, name in ipairs(gates_for(kind)) do
    local closed_until = gate(name .. '.until')
    if closed_until ~= '' and tonumber(closed_until) > now then
      return name, tonumber(closed_until)
    end
  end
end

-- Adds a word to a line feed list that holds `most` of them at most; returns how many it holds now.
local function note_word(field, word, most)
  local words, is_known = {}, false
  for known in string.gmatch(gate(field), '[^\n]+') do
    words[#words + 1] = known
    is_known = is_known or known == word
  end
  if not is_known and #words < most then
    words[#words + 1] = word
    set_gate(field, table.concat(words, '\n'))
  end
  return #words
end

-- Makes due whoever stands under this name: a tow, or a violation. An option of ZADD may say when that changes nothing.
local function make_due(member, at, option)
  local violation_id = string.match(member, '^violation (.*)$')
  local due_set, name = DUE_TOWS, member
  if violation_id then
    due_set, name = DUE_VIOLATIONS, violation_id
  end
  if option then
    redis.call('ZADD', due_set, option, at, name)
  else
    redis.call('ZADD', due_set, at, name)
  end
end

-- When somebody who waits for a gate looks again: few at the moment given, the others when they are picked.
local function next_look(hold_by)
  local looks = hold_by.looks or redis.call('SCARD', HELD .. ':' .. hold_by.gate) <= LOOKING
  return looks and hold_by.at or hold_by.now + LOOK_AGAIN_MS
end

-- Lets a tow wait for a gate. While a gate holds a report, its give-up clock stands still. Who looks again comes back
-- at the moment given; the others are picked when the gate may be tried (let_some_look), and all are woken when it opens.
local function hold(ref, seq, hold_by)
  if redis.call('HGET', TOW, 'held_by') ~= hold_by.gate then
    leave_held(ref)
    redis.call('HSET', TOW, 'held_by', hold_by.gate)
  end
  redis.call('SADD', HELD .. ':' .. hold_by.gate, ref)
  if report(seq, 'once') ~= '1' then
    redis.call('SADD', PROBES .. ':' .. hold_by.gate, ref)
  end
  if report(seq, 'held_since') == '' then
    set_report(seq, { held_since = hold_by.now })
  end
  set_report(seq, { waits_for = hold_by.gate })
  redis.call('ZADD', DUE_TOWS, next_look(hold_by), ref)
end

local function stop_holding(ref, seq, now)
  leave_held(ref)
  local since = report(seq, 'held_since')
  if since == '' then
    return
  end
  local give_up_at = report(seq, 'give_up_at')
  set_report(seq, { held_since = '', waits_for = '' })
  if give_up_at ~= '' then
    set_report(seq, { give_up_at = give_up_at + now - since })
  end
end

-- Everything a gate held is due at once; what another gate holds too comes back by itself.
local function release_held(name, now)
  for _, member in ipairs(redis.call('SMEMBERS', HELD .. ':' .. name)) do
    make_due(member, now)
  end
  redis.call('DEL', HELD .. ':' .. name, PROBES .. ':' .. name)
end

-- A few of those a gate holds look again when it may be tried next.
local function let_some_look(name, at)
  for _, set in ipairs({ PROBES, HELD }) do
    for _, member in ipairs(redis.call('SRANDMEMBER', set .. ':' .. name, LOOKING)) do
      make_due(member, at, 'LT')
    end
  end
end

-- Closes a gate for a while, but never for longer than its maximum, however long the service asked for.
local function close_gate(name, delay_ms, now)
  local at = now + math.min(delay_ms, name == 'connection' and CONNECTION_CLOSED_MAX_MS or CLOSED_MAX_MS)
  set_gate(name .. '.until', at)
  let_some_look(name, at)
end

-- Removes a gate and its task; true when it was closed.
local function open_gate(name, fields, now)
  local was_closed = gate(name .. '.until') ~= ''
  for _, field in ipairs(fields) do
    redis.call('HDEL', GATES, field)
  end
  if was_closed then
    close_general_task(name)
    publish('gate.opened', cjson.null)
    release_held(name, now)
  end
  return was_closed
end

local OUTAGE_FIELDS = { 'outage.until', 'outage.probes', 'outage.failures', 'outage.tows', 'outage.last_probe' }

local function end_outage(now)
  return open_gate('outage', OUTAGE_FIELDS, now)
end

local function restore_connection(now)
  local fields = { 'connection.until', 'connection.failures', 'connection.last_probe', 'connection.safe_only' }
  return open_gate('connection', fields, now)
end

local function resume_operation(kind, now)
  return open_gate('paused.' .. kind, { 'paused.' .. kind .. '.until', 'paused.' .. kind .. '.last_probe', 'forbidden.' .. kind }, now)
end

-- The connection as a whole fails: one task, whatever else was wrong before. Calls under way that share one failure
-- count once: `failures` is what the claim knew of, and this one. What answers in place of the service (safe_only) ends no
-- outage: that lasts at least until the next try.
-- `lost`: { connection_delay_ms, connection_failures, connection_task, connection_safe_only }
local function lose_connection(lost, now)
  if not lost.connection_safe_only then
    end_outage(now)
  elseif gate('outage.until') ~= '' then
    close_gate('outage', lost.connection_delay_ms, now)
  end
  if lost.connection_safe_only then
    set_gate('connection.safe_only', '1')
  end
  set_gate('connection.failures', math.max(number_of(gate('connection.failures')), lost.connection_failures))
  if open_general_task('connection', lost.connection_task) then
    publish('gate.closed', cjson.null)
  end
  close_gate('connection', lost.connection_delay_ms, now)
end

-- The service failed a call of this tow or violation. Enough of them in a row open the breaker; a failed try keeps it open longer.
local function note_failure(ref, delay_ms, task_json, now)
  if gate('connection.until') ~= '' then
    if gate('connection.last_probe') == ref then
      -- A try that reached nobody proves nothing; it is made again, later each time.
      local failures = redis.call('HINCRBY', GATES, 'connection.failures', 1)
      close_gate('connection', delay_ms * 2 ^ math.min(failures, 8), now)
    end
    return
  end
  local failures = redis.call('HINCRBY', GATES, 'outage.failures', 1)
  local tows = note_word('outage.tows', ref, OUTAGE_TOWS)
  if gate('outage.until') ~= '' then
    if gate('outage.last_probe') == ref then
      redis.call('HINCRBY', GATES, 'outage.probes', 1)
      close_gate('outage', delay_ms, now)
    end
  elseif failures >= OUTAGE_FAILURES and tows >= OUTAGE_TOWS then
    open_general_task('outage', task_json)
    publish('gate.closed', cjson.null)
    close_gate('outage', delay_ms, now)
  end
end

-- The service forbids an operation for this tow or violation. True when the operation is paused from now on, or was before.
local function note_forbidden(ref, kind, task_json, now)
  local name = 'paused.' .. kind
  local tows = note_word('forbidden.' .. kind, ref, PAUSE_TOWS)
  if gate(name .. '.until') == '' and tows < PAUSE_TOWS then
    return false
  end
  if open_general_task(name, task_json) then
    publish('gate.closed', cjson.null)
    -- Those that were refused one by one before wait with all others now.
    for refused in string.gmatch(gate('forbidden.' .. kind), '[^\n]+') do
      make_due(refused, now)
    end
  end
  close_gate(name, PAUSE_PROBE_MS, now)
  return true
end
