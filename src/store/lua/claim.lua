-- Gives one worker the right to send the head of a tow's outbox, or says why nothing can be sent now. The due mark is
-- set to the next moment at which a look is worth while.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 towing reference · 2 lease token · 3 attempt id · 4 lease ms · 5 grace ms of an unknown outcome
--         6 how many unanswered sends of a call that is not safe to repeat are allowed
-- RETURNS { 'send', seq, id, kind, body, revision, attempts, failures, not_found, unanswered,
--           failures of the connection }
--         { 'idle' } nothing is owed · { 'held' } a person decides · { 'reconcile' } compare the invoices first
--         { 'wait', at_ms } · { 'busy', at_ms } another worker holds the lease · { 'gone' } no such tow
--! include shared/tow.lua

local ref, token, attempt_id = ARGV[1], ARGV[2], ARGV[3]
local lease_ms, grace_ms, sends_max = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

if redis.call('EXISTS', TOW) == 0 then
  redis.call('ZREM', DUE_TOWS, ref)
  return { 'gone' }
end

local function granted(seq)
  return {
    'send', seq, report(seq, 'id'), report(seq, 'kind'), report(seq, 'body'), report(seq, 'revision'),
    number_of(report(seq, 'attempts')), number_of(report(seq, 'failures')), number_of(report(seq, 'not_found')),
    number_of(report(seq, 'unanswered')), number_of(redis.call('HGET', CONNECTION, 'failures')),
  }
end

local now = now_ms()
local lease_until = number_of(redis.call('HGET', TOW, 'lease_until'))
if lease_until > now then
  redis.call('ZADD', DUE_TOWS, lease_until, ref)
  if redis.call('HGET', TOW, 'lease_token') == token then
    -- The reply of this very claim was lost.
    return granted(settle_head())
  end
  return { 'busy', string.format('%.0f', lease_until) }
end
if redis.call('HGET', TOW, 'reconcile') == '1' then
  redis.call('ZADD', DUE_TOWS, now + lease_ms, ref)
  return { 'reconcile' }
end

-- The attempt of a worker that died or froze: nobody knows whether its bytes arrived.
local function bury_lost_attempt(seq)
  local lost = report(seq, 'attempt_id')
  if lost == '' then
    return
  end
  log_attempt(seq, cjson.encode({ attempt_id = lost, outcome = 'worker_lost', ended_at_ms = now }))
  set_report(seq, { attempt_id = '', error = cjson.encode({ message = 'the worker was lost while sending' }) })
  add_to_report(seq, 'unanswered', 1)
  add_to_report(seq, 'possible_effects', 1)
  if report(seq, 'once') == '1' then
    set_report(seq, { state = 'unknown', next_at = now + grace_ms })
    remember_on_timeline(cjson.encode({ type = 'report.unknown', report_id = report(seq, 'id') }))
  end
  raise_version(ref)
end

local function hand_over_to_a_person(seq)
  set_report(seq, { next_at = '' })
  local id = report(seq, 'id')
  open_task(ref, id .. '.' .. ref, cjson.encode({
    id = id .. '.' .. ref,
    type = 'report_unknown',
    message = 'The call may have been sent, and no answer came. It may or may not have worked; look it up at the service.',
    actions = { 'accept', 'retry', 'waive' },
    towing_reference_id = ref,
    report_id = id,
  }))
  raise_version(ref)
end

local head = settle_head()
if head then
  bury_lost_attempt(head)
end
while head and is_proved(head) do
  accept_report(ref, head, now, 'proved_by_webhook')
  raise_version(ref)
  head = settle_head()
end
if not head then
  reschedule(ref, now, 0)
  return { 'idle' }
end

local state, next_at = report(head, 'state'), report(head, 'next_at')
if state == 'refused' or next_at == '' then
  reschedule(ref, now, 0)
  return { 'held' }
end
if tonumber(next_at) > now then
  reschedule(ref, now, 0)
  return { 'wait', next_at }
end
if state == 'unknown' and number_of(report(head, 'unanswered')) >= sends_max then
  hand_over_to_a_person(head)
  reschedule(ref, now, 0)
  return { 'held' }
end

-- While the connection is broken one tow at a time may try it; all others wait and are woken when it works again.
local closed_until = number_of(redis.call('HGET', CONNECTION, 'until'))
if closed_until > now then
  redis.call('SADD', HELD, ref)
  redis.call('ZADD', DUE_TOWS, closed_until, ref)
  return { 'wait', string.format('%.0f', closed_until) }
end
if closed_until > 0 then
  redis.call('HSET', CONNECTION, 'until', now + lease_ms)
end

local once = report(head, 'once')
set_report(head, { attempt_id = attempt_id })
if once == '1' then
  set_report(head, { state = 'sending' })
  if report(head, 'first_sent_us') == '' then
    set_report(head, { first_sent_us = now_us() })
  end
end
add_to_report(head, 'attempts', 1)
redis.call('HSET', TOW, 'lease_token', token, 'lease_until', now + lease_ms)
raise_version(ref)
reschedule(ref, now, 0)
return granted(head)
