-- Gives one worker the right to send the head of a tow's outbox, or says why nothing can be sent now. The due mark is
-- set to the next moment at which a look is worth while.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 towing reference · 2 lease token · 3 attempt id · 4 lease ms · 5 grace ms of an unknown outcome
--         6 how many unanswered sends of a call that is not safe to repeat are allowed
--         7 calls per window for all tows together, 0 = any number · 8 that window, ms
--         9 ms after its first failure at which a report is given up
--         10 id of the task about an invoice that proves what was corrected since · 11 that task as JSON
-- RETURNS { 'send', seq, id, kind, body, revision, attempts, failures, not_found, unanswered,
--           failures of the connection, failed probes of an outage, times the connection broke for this report alone,
--           ms from the recording of its fact to this grant, this grant, ms since the epoch }
--         { 'idle' } nothing is owed · { 'held' } a person decides · { 'reconcile' } compare the invoices first
--         { 'wait', at_ms } · { 'busy', at_ms } another worker holds the lease · { 'gone' } no such tow
--         { 'hand_over', seq, id, kind, unknown|given_up, attempts } a person must decide: hand-over.lua says so
--         { 'probe', failed probes } the outage, or what answered in place of the service, may be over, and no report may
--           try it: make the token call
--! include shared/tries.lua
--! include shared/budget.lua

local ref, token, attempt_id = ARGV[1], ARGV[2], ARGV[3]
local lease_ms, grace_ms, sends_max = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local slots_max, window_ms = tonumber(ARGV[7]), tonumber(ARGV[8])
-- A tow that may not try a gate itself looks again after the one that may has had its turn.
local TURN_MS = 500
local LOST_WAIT_MS, LOST_WAIT_MAX_MS = 500, 60000
local LATER_CLASS = 10000000000000

if redis.call('EXISTS', TOW) == 0 then
  redis.call('ZREM', DUE_TOWS, ref)
  return { 'gone' }
end

local function granted(seq)
  local granted_at = number_of(redis.call('HGET', TOW, 'lease_until')) - lease_ms
  return {
    'send', seq, report(seq, 'id'), report(seq, 'kind'), report(seq, 'body'), report(seq, 'revision'),
    number_of(report(seq, 'attempts')), number_of(report(seq, 'failures')), number_of(report(seq, 'not_found')),
    number_of(report(seq, 'unanswered')), number_of(gate('connection.failures')), number_of(gate('outage.probes')),
    number_of(report(seq, 'connection_losses')), granted_at - number_of(report(seq, 'created_at')),
    string.format('%.0f', granted_at),
  }
end

local now = now_ms()
local lease_until = number_of(redis.call('HGET', TOW, 'lease_until'))
if lease_until > now then
  redis.call('ZADD', DUE_TOWS, lease_until, ref)
  if redis.call('HGET', TOW, 'lease_token') == token then
    -- The reply of this very claim was lost.
    return granted(settle_head(ref))
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
  start_give_up_clock(seq, now, tonumber(ARGV[9]))
  local failures = add_to_report(seq, 'failures', 1)
  if report(seq, 'once') == '1' then
    set_report(seq, { state = 'unknown', next_at = now + grace_ms })
    remember_on_timeline(cjson.encode({ type = 'report.unknown', report_id = report(seq, 'id') }))
  elseif failures > 1 then
    -- What keeps killing its worker must not do so at once again.
    set_report(seq, { next_at = now + math.min(LOST_WAIT_MAX_MS, LOST_WAIT_MS * 2 ^ math.min(failures, 10)) })
  end
  raise_version(ref)
end

-- Nothing can be sent now: whoever stood in line for this tow leaves it.
local function rest(seq, reply)
  redis.call('ZREM', SLOT_WAITING, ref)
  if seq then
    stop_holding(ref, seq, now)
  else
    leave_held(ref)
  end
  reschedule(ref, now, 0)
  return reply
end

-- The due mark stays for as long as handing over may take.
local function hand_over(seq, why)
  redis.call('ZREM', SLOT_WAITING, ref)
  stop_holding(ref, seq, now)
  redis.call('ZADD', DUE_TOWS, now + lease_ms, ref)
  return { 'hand_over', seq, report(seq, 'id'), report(seq, 'kind'), why, number_of(report(seq, 'attempts')) }
end

local function wait_for_gate(seq, name, closed_until, looks)
  redis.call('ZREM', SLOT_WAITING, ref)
  hold(ref, seq, { gate = name, at = closed_until, looks = looks, now = now })
  return { 'wait', string.format('%.0f', closed_until) }
end

-- A gate that only a call safe to repeat may try; an outage never twice in a row by the same tow. Nil: this report tries.
local function somebody_else_tries(seq)
  local name = gate_for_safe_tries()
  if not name then
    return nil
  end
  local last_probe = name == 'outage' and gate('outage.last_probe') or ''
  if report(seq, 'once') ~= '1' and last_probe ~= ref then
    return nil
  end
  local other = other_probe(name, ref, last_probe)
  if other then
    redis.call('ZADD', DUE_TOWS, now, other)
    return wait_for_gate(seq, name, now + TURN_MS, true)
  end
  begin_try(name, 'token', lease_ms, now)
  wait_for_gate(seq, name, now + lease_ms, true)
  return { 'probe', failed_tries(name) }
end

-- Tows that have something to say about where a vehicle is are served first.
local function class_of_service(head)
  for seq = head, number_of(redis.call('HGET', TOW, 'tail')) do
    local kind, is_owed = report(seq, 'kind'), not is_settled(report(seq, 'state'))
    if is_owed and (kind == 'started' or kind == 'released') then
      return 0
    end
  end
  return LATER_CLASS
end

-- Stands in line for a slot of the budget. Nil when one was taken.
local function wait_for_slot(seq)
  if slots_max == 0 then
    return nil
  end
  -- A tow moves up when it has something more urgent to say, and never back.
  redis.call('ZADD', SLOT_WAITING, 'LT', class_of_service(seq) + now, ref)
  local at = slot_at(SLOTS, slots_max, window_ms, redis.call('ZRANK', SLOT_WAITING, ref), now)
  if at > now then
    redis.call('ZADD', DUE_TOWS, at, ref)
    set_report(seq, { waits_for = 'budget' })
    return { 'wait', string.format('%.0f', at) }
  end
  redis.call('ZREM', SLOT_WAITING, ref)
  take_slot(SLOTS, slots_max, window_ms, now)
  return nil
end

local head = settle_head(ref)
if head then
  bury_lost_attempt(head)
end
while head and is_proved(head) do
  stop_holding(ref, head, now)
  if report(head, 'sent_revision') ~= report(head, 'revision') then
    open_task(ref, ARGV[10], ARGV[11])
  end
  accept_report(ref, head, now, 'proved_by_webhook')
  raise_version(ref)
  head = settle_head(ref)
end
if not head then
  return rest(nil, { 'idle' })
end

local kind = report(head, 'kind')
if report(head, 'state') == 'refused' and report(head, 'forbidden') == '1' and gate('paused.' .. kind .. '.until') ~= '' then
  -- Refused for itself before the whole operation was found forbidden.
  set_report(head, { state = resting_state(head), next_at = now, forbidden = '' })
  close_task(ref, report(head, 'id') .. '.' .. ref)
  raise_version(ref)
end
local state, next_at, give_up_at = report(head, 'state'), report(head, 'next_at'), report(head, 'give_up_at')
if state == 'refused' or next_at == '' then
  return rest(head, { 'held' })
end
if tonumber(next_at) > now then
  if give_up_at ~= '' and tonumber(give_up_at) <= now and report(head, 'held_since') == '' then
    return hand_over(head, state == 'unknown' and 'unknown' or 'given_up')
  end
  return rest(head, { 'wait', next_at })
end
if state == 'unknown' and number_of(report(head, 'unanswered')) >= sends_max then
  return hand_over(head, 'unknown')
end
local held_by, closed_until = closed_gate(kind, now)
if held_by then
  return wait_for_gate(head, held_by, closed_until)
end
local reply = somebody_else_tries(head)
if reply then
  return reply
end
stop_holding(ref, head, now)
give_up_at = report(head, 'give_up_at')
if give_up_at ~= '' and tonumber(give_up_at) <= now then
  return hand_over(head, state == 'unknown' and 'unknown' or 'given_up')
end
reply = wait_for_slot(head)
if reply then
  return reply
end

-- Whatever was closed until now is tried by this tow alone.
for _, name in ipairs(gates_for(kind)) do
  if gate(name .. '.until') ~= '' then
    begin_try(name, ref, lease_ms, now)
  end
end

local once = report(head, 'once')
set_report(head, { attempt_id = attempt_id, waits_for = '' })
if once == '1' then
  set_report(head, { state = 'sending' })
  if report(head, 'first_sent_us') == '' then
    set_report(head, { first_sent_us = now_us(), sent_revision = report(head, 'revision') })
  end
end
add_to_report(head, 'attempts', 1)
redis.call('HSET', TOW, 'lease_token', token, 'lease_until', now + lease_ms)
raise_version(ref)
reschedule(ref, now, 0)
return granted(head)
