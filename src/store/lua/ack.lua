-- Stores what came of one attempt and gives the lease back. An answer that comes too late, to a body that was corrected
-- or to a claim that was lost, is added to the attempts and changes nothing, except unknown to accepted for the same body.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 towing reference · 2 seq · 3 attempt id · 4 body revision · 5 lease token
--         6 next: accepted|refused|retry|unknown|hold · 7 delay ms · 8 attempt as JSON
--         9 changes as JSON: { error, hint, answer, raw_body, not_found, unanswered, no_effect, answered, connection,
--           task: { id, json } | false }
-- RETURNS { 'done', 'more' or '' } · { 'late' } · { 'late_accepted' } · { 'gone' }
--! include shared/tow.lua

local PROBE_TURN_MS = 500
local ref, seq, attempt_id, revision, token = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local outcome, delay_ms, changes = ARGV[6], tonumber(ARGV[7]), cjson.decode(ARGV[9])

if report(seq, 'id') == '' then
  return { 'gone' }
end
local now = now_ms()
log_attempt(seq, ARGV[8])
local same_body = report(seq, 'revision') == revision
local is_ours = same_body and report(seq, 'attempt_id') == attempt_id and redis.call('HGET', TOW, 'lease_token') == token

local function keep_answer()
  set_report(seq, { answer = changes.answer, raw_body = changes.raw_body, delivered_at = now })
  if report(seq, 'kind') == 'invoice' then
    redis.call('HSET', TOW, 'reconcile', '1')
  end
end

local function reopen_connection()
  if redis.call('EXISTS', CONNECTION) == 0 then
    return
  end
  redis.call('DEL', CONNECTION)
  redis.call('HDEL', TASKS, 'connection')
  redis.call('ZREM', OPEN_TASKS, 'connection')
  for _, held in ipairs(redis.call('SMEMBERS', HELD)) do
    redis.call('ZADD', DUE_TOWS, now, held)
  end
  redis.call('DEL', HELD)
  publish('connection.restored', cjson.null)
end

local function close_connection()
  redis.call('HSET', CONNECTION, 'until', now + delay_ms)
  redis.call('HINCRBY', CONNECTION, 'failures', 1)
  if redis.call('HSETNX', TASKS, 'connection', changes.task.json) == 1 then
    redis.call('ZADD', OPEN_TASKS, now, 'connection')
    publish('connection.lost', cjson.null)
  end
end

-- A create that surely had no effect must not let an unrelated invoice webhook pass for its proof.
local function note_effect()
  if not changes.no_effect then
    add_to_report(seq, 'possible_effects', 1)
  elseif number_of(report(seq, 'possible_effects')) == 0 then
    set_report(seq, { first_sent_us = '' })
  end
end

if not is_ours then
  if outcome == 'accepted' and same_body and report(seq, 'state') == 'unknown' then
    keep_answer()
    accept_report(ref, seq, now, 'late_answer')
    raise_version(ref)
    reschedule(ref, now, 0)
    return { 'late_accepted' }
  end
  raise_version(ref)
  return { 'late' }
end

redis.call('HDEL', TOW, 'lease_token', 'lease_until')
set_report(seq, { attempt_id = '' })
if outcome == 'accepted' then
  keep_answer()
  accept_report(ref, seq, now, 'answered')
elseif outcome == 'refused' then
  note_effect()
  set_report(seq, { state = 'refused', next_at = '', error = changes.error, hint = changes.hint })
  remember_on_timeline(cjson.encode({ type = 'report.refused', report_id = report(seq, 'id') }))
else
  note_effect()
  if outcome == 'hold' then
    -- Nothing that counts was sent: the fault lies with the connection.
    add_to_report(seq, 'attempts', -1)
  else
    add_to_report(seq, 'failures', 1)
    add_to_report(seq, 'not_found', changes.not_found)
    add_to_report(seq, 'unanswered', changes.unanswered)
    if report(seq, 'first_failed_at') == '' then
      set_report(seq, { first_failed_at = now })
    end
  end
  -- While the connection is broken another tow makes the next try: this one may be the only one that fails.
  local turn_ms = changes.connection and PROBE_TURN_MS or 0
  set_report(seq, { state = resting_state(seq), next_at = now + delay_ms + turn_ms, error = changes.error })
  if outcome == 'unknown' then
    remember_on_timeline(cjson.encode({ type = 'report.unknown', report_id = report(seq, 'id') }))
  end
end

if changes.connection then
  close_connection()
else
  if changes.answered then
    reopen_connection()
  elseif redis.call('EXISTS', CONNECTION) == 1 then
    -- A probe that reached nobody proves nothing; the next one need not wait for its lease to end.
    redis.call('HSET', CONNECTION, 'until', now + delay_ms)
  end
  if changes.task then
    open_task(ref, changes.task.id, changes.task.json)
  end
end
raise_version(ref)
local due = reschedule(ref, now, WAKE_GRACE_MS)
return { 'done', due == now + WAKE_GRACE_MS and 'more' or '' }
