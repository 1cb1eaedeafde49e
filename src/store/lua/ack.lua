-- Stores what came of one attempt and gives the lease back. An answer that comes too late, to a body that was corrected
-- or to a claim that was lost, is added to the attempts and changes nothing, except unknown to accepted for the same body.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 towing reference · 2 seq · 3 attempt id · 4 body revision · 5 lease token
--         6 next: accepted|refused|retry|unknown|hold · 7 delay ms · 8 attempt as JSON
--         9 changes as JSON: { error, hint, answer, raw_body, not_found, unanswered, no_effect, answered, connection,
--           connection_loss: 1 when it broke for this report alone, too_old: true when the claim had grown too old,
--           service: alive|failing|silent, forbidden, asked_ms, outage_delay_ms, give_up_ms,
--           task: { id, json } | false, connection_delay_ms, connection_failures, connection_safe_only, connection_task,
--           outage_task, paused_task }
-- RETURNS { 'done', 'more' or '' } · { 'late' } · { 'late_accepted' } · { 'gone' }
--! include shared/gates.lua

-- While the connection is broken another tow makes the next try: this one may be the only one that fails. Once it works
-- again, this one has not to wait for long.
local PROBE_TURN_MS, CONNECTION_WAIT_MAX_MS = 500, 30000
local DROPS_MAX, DROP_WAIT_MS, DROP_WAIT_MAX_MS = 3, 1000, 60000
local ref, seq, attempt_id, revision, token = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local outcome, delay_ms, changes = ARGV[6], tonumber(ARGV[7]), cjson.decode(ARGV[9])

local kind = report(seq, 'kind')
if kind == '' then
  return { 'gone' }
end
local now = now_ms()
if outcome ~= 'hold' then
  log_attempt(seq, ARGV[8])
end
local same_body = report(seq, 'revision') == revision
local is_ours = same_body and report(seq, 'attempt_id') == attempt_id and redis.call('HGET', TOW, 'lease_token') == token

local function keep_answer()
  set_report(seq, { answer = changes.answer, raw_body = changes.raw_body, delivered_at = now })
  if kind == 'invoice' then
    redis.call('HSET', TOW, 'reconcile', '1')
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

-- What any answer says about the service as a whole, however late it comes.
local function note_life()
  if changes.answered then
    restore_connection(now)
  end
  if changes.service == 'alive' then
    end_outage(now)
    if not changes.forbidden then
      resume_operation(kind, now)
    end
  end
end

note_life()
if not is_ours then
  if outcome == 'accepted' and same_body and report(seq, 'state') == 'unknown' then
    keep_answer()
    accept_report(ref, seq, now, 'late_answer')
    if changes.task then
      open_task(ref, changes.task.id, changes.task.json)
    end
    raise_version(ref)
    reschedule(ref, now, 0)
    return { 'late_accepted' }
  end
  raise_version(ref)
  return { 'late' }
end

local function count_failure()
  add_to_report(seq, 'failures', 1)
  add_to_report(seq, 'not_found', changes.not_found)
  add_to_report(seq, 'unanswered', changes.unanswered)
  set_report(seq, { drops = 0 })
  start_give_up_clock(seq, now, changes.give_up_ms)
end

-- Nothing that counts was sent. Dropped for its age now and then a claim is no failure; dropped again and again it is.
local function count_hold()
  add_to_report(seq, 'attempts', -1)
  if changes.connection then
    add_to_report(seq, 'connection_losses', changes.connection_loss)
    add_to_report(seq, 'unanswered', changes.unanswered)
  elseif changes.too_old and add_to_report(seq, 'drops', 1) >= DROPS_MAX then
    start_give_up_clock(seq, now, changes.give_up_ms)
    delay_ms = math.min(DROP_WAIT_MAX_MS, DROP_WAIT_MS * 2 ^ math.min(number_of(report(seq, 'drops')) - DROPS_MAX, 10))
  end
end

-- Tells when a report that was neither accepted nor refused comes up again: after its own wait, or, while a gate is
-- closed, as soon as that opens, but never before the moment the service asked for.
local function rest_until_next_try()
  local held_by = closed_gate(kind, now)
  local next_at = now + delay_ms
  if held_by and resting_state(seq) == 'pending' and report(seq, 'once') ~= '1' then
    next_at = now + changes.asked_ms
  end
  if changes.connection and outcome == 'hold' then
    next_at = now + math.max(changes.asked_ms, math.min(delay_ms, CONNECTION_WAIT_MAX_MS)) + PROBE_TURN_MS
  end
  set_report(seq, { state = resting_state(seq), next_at = next_at, error = changes.error })
  return held_by
end

redis.call('HDEL', TOW, 'lease_token', 'lease_until')
set_report(seq, { attempt_id = '' })
local is_paused = changes.forbidden and note_forbidden(ref, kind, changes.paused_task, now)
if changes.connection then
  lose_connection(changes, now)
elseif changes.service == 'failing' then
  note_failure(ref, changes.outage_delay_ms, changes.outage_task, now)
end

local held_by = nil
if outcome == 'accepted' then
  keep_answer()
  accept_report(ref, seq, now, 'answered')
elseif outcome == 'refused' and not is_paused then
  note_effect()
  set_report(seq, { state = 'refused', next_at = '', error = changes.error, hint = changes.hint })
  set_report(seq, { forbidden = changes.forbidden and '1' or '' })
  remember_on_timeline(cjson.encode({ type = 'report.refused', report_id = report(seq, 'id') }))
else
  note_effect()
  if outcome == 'hold' then
    count_hold()
  else
    count_failure()
  end
  held_by = rest_until_next_try()
  if outcome == 'unknown' then
    remember_on_timeline(cjson.encode({ type = 'report.unknown', report_id = report(seq, 'id') }))
  end
end
if changes.task and not is_paused then
  open_task(ref, changes.task.id, changes.task.json)
end

raise_version(ref)
local due = reschedule(ref, now, WAKE_GRACE_MS)
if held_by then
  local _, closed_until = closed_gate(kind, now)
  hold(ref, seq, { gate = held_by, at = math.max(closed_until + PROBE_TURN_MS, due or now), now = now })
  return { 'done', '' }
end
return { 'done', due == now + WAKE_GRACE_MS and 'more' or '' }
