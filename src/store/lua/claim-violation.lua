-- Gives one worker the right to work on a violation, or says why nothing can be done now. The due mark is set to the next
-- moment at which a look is worth while.
--
-- KEYS    the keys of one violation (see shared/violation.lua)
-- ARGV    1 our id · 2 lease token · 3 attempt id · 4 lease ms · 5 ms in which a tow request may prove a lost answer
--         6 how many unanswered sends are allowed · 7 calls per window, 0 = any number · 8 that window, ms
--         9 ms after its first failure at which it is given up · 10 1 when an active ticket is looked for first, else 0
--         11 1 when a token is at hand, else 0: it would have to be got while a slot of the budget grows old
-- RETURNS { 'send', the hash as a flat list, failures of the connection, failed probes of an outage,
--           ms from its recording to this grant }
--         { 'check', the hash } ask for an active ticket first · { 'finish', the hash } settled: clear up behind it
--         { 'idle' } nothing is left to do · { 'held' } a person decides · { 'gone' } no such violation
--         { 'wait', at_ms } · { 'busy', at_ms } another worker holds the lease
--         { 'token_first' } it may be sent at once: get a token, and claim again
--         { 'hand_over', unknown|given_up|unchecked, attempts, version } a person must decide: hand-over-violation.lua
--         { 'probe', failed probes } the outage, or what answered in place of the service, may be over, and no report may
--           try it: make the token call
--! include shared/violation-gates.lua
--! include shared/tries.lua
--! include shared/budget.lua

local id, token, attempt_id, lease_ms = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local proof_ms, sends_max = tonumber(ARGV[5]), tonumber(ARGV[6])
local slots_max, window_ms, give_up_ms = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local KIND, TURN_MS = 'violation', 500

if redis.call('EXISTS', VIOLATION) == 0 then
  redis.call('ZREM', DUE_VIOLATIONS, id)
  return { 'gone' }
end

local function granted()
  local hash = redis.call('HGETALL', VIOLATION)
  if field('attempt_id') == '' then
    return { 'check', hash }
  end
  local since_recorded = number_of(field('lease_until')) - lease_ms - number_of(field('created_at'))
  return { 'send', hash, number_of(gate('connection.failures')), number_of(gate('outage.probes')), since_recorded }
end

local now = now_ms()
local lease_until = number_of(field('lease_until'))
if lease_until > now then
  redis.call('ZADD', DUE_VIOLATIONS, lease_until, id)
  if field('lease_token') == token then
    -- The reply of this very claim was lost.
    return granted()
  end
  return { 'busy', string.format('%.0f', lease_until) }
end

-- The attempt of a worker that died or froze: nobody knows whether its bytes arrived.
local function bury_lost_attempt()
  local lost = field('attempt_id')
  give_lease_back()
  if lost == '' then
    return
  end
  log_violation_attempt(cjson.encode({ attempt_id = lost, outcome = 'worker_lost', ended_at_ms = now }))
  set_fields({ attempt_id = '', slot_at = '' })
  if not has_ended(field('state')) then
    set_fields({ error = cjson.encode({ message = 'the worker was lost while sending' }) })
    add_to_field('unanswered', 1)
    note_possible_effect()
    add_to_field('failures', 1)
    start_violation_clock(now, give_up_ms)
    set_state(id, 'unknown')
    -- What no tow request can prove is asked about at once.
    set_fields({ next_at = now + (field('provable') == '1' and proof_ms or 0) })
  end
  raise_violation(id)
end

-- Nothing can be done now: it leaves the line, and what held it.
local function rest(reply)
  redis.call('ZREM', VIOLATION_LINE, id)
  stop_waiting_at_gate(id, now)
  reschedule_violation(id, now, 0)
  return reply
end

-- The due mark stays for as long as handing over may take.
local function hand_over(why)
  redis.call('ZREM', VIOLATION_LINE, id)
  stop_waiting_at_gate(id, now)
  redis.call('ZADD', DUE_VIOLATIONS, now + lease_ms, id)
  return { 'hand_over', why, number_of(field('attempts')), number_of(field('version')) }
end

local function is_given_up()
  local give_up_at = field('give_up_at')
  return give_up_at ~= '' and tonumber(give_up_at) <= now
end

-- What a person must decide about once its time is up: its outcome, a ticket nobody could tell about, or its failures.
local function given_up_as()
  if field('state') == 'unknown' then
    return 'unknown'
  end
  return number_of(field('ticket_failures')) > 0 and 'unchecked' or 'given_up'
end

local function wait_for_gate(name, closed_until, looks)
  redis.call('ZREM', VIOLATION_LINE, id)
  hold_violation(id, { gate = name, at = closed_until, looks = looks, now = now })
  return { 'wait', string.format('%.0f', closed_until) }
end

-- A gate that only a call safe to repeat may try, so never a violation. Nil: there is none.
local function somebody_else_tries()
  local name = gate_for_safe_tries()
  if not name then
    return nil
  end
  local other = other_probe(name, member_of(id), name == 'outage' and gate('outage.last_probe') or '')
  if other then
    make_due(other, now)
    return wait_for_gate(name, now + TURN_MS, true)
  end
  begin_try(name, 'token', lease_ms, now)
  wait_for_gate(name, now + lease_ms, true)
  return { 'probe', failed_tries(name) }
end

-- Stands in line for a slot of the budget, in the order in which violations were reported. Nil when one is free.
local function wait_for_slot()
  if slots_max == 0 then
    return nil
  end
  redis.call('ZADD', VIOLATION_LINE, 'NX', field('created_at'), id)
  local at = slot_at(VIOLATION_SLOTS, slots_max, window_ms, redis.call('ZRANK', VIOLATION_LINE, id), now)
  if at > now then
    redis.call('ZADD', DUE_VIOLATIONS, at, id)
    set_fields({ waits_for = 'budget' })
    return { 'wait', string.format('%.0f', at) }
  end
  return nil
end

local function take_slot_of_budget()
  if slots_max == 0 then
    return
  end
  redis.call('ZREM', VIOLATION_LINE, id)
  take_slot(VIOLATION_SLOTS, slots_max, window_ms, now)
  set_fields({ slot_at = now })
end

local function take_lease()
  redis.call('HSET', VIOLATION, 'lease_token', token, 'lease_until', now + lease_ms)
  raise_violation(id)
  reschedule_violation(id, now, 0)
  return granted()
end

bury_lost_attempt()
if has_ended(field('state')) then
  if field('unfinished') == '' then
    return rest({ 'idle' })
  end
  redis.call('ZADD', DUE_VIOLATIONS, now + lease_ms, id)
  return { 'finish', redis.call('HGETALL', VIOLATION) }
end
if field('state') == 'refused' and field('forbidden') == '1' and gate('paused.' .. KIND .. '.until') ~= '' then
  -- Refused for itself before the whole operation was found forbidden.
  set_state(id, resting_state_of_violation())
  set_fields({ next_at = now, forbidden = '' })
  close_general_task(violation_task(id), id)
  raise_violation(id)
end
local state, next_at = field('state'), field('next_at')
if state == 'refused' or state == 'held' or next_at == '' then
  return rest({ 'held' })
end
if tonumber(next_at) > now then
  if is_given_up() and field('held_since') == '' then
    return hand_over(given_up_as())
  end
  return rest({ 'wait', next_at })
end
if state == 'unknown' and open_outcomes() >= sends_max then
  return hand_over('unknown')
end
local held_by, closed_until = closed_gate(KIND, now)
if held_by then
  return wait_for_gate(held_by, closed_until)
end
local reply = somebody_else_tries()
if reply then
  return reply
end
stop_waiting_at_gate(id, now)
if is_given_up() then
  return hand_over(given_up_as())
end
local is_ticket_open = field('ticket') == '' and field('ticket_overruled') ~= '1'
if ARGV[10] == '1' and field('depends_on_ticket') == '1' and is_ticket_open then
  redis.call('ZREM', VIOLATION_LINE, id)
  return take_lease()
end
reply = wait_for_slot()
if reply then
  return reply
end
if ARGV[11] == '0' then
  -- It keeps its place in the line; should its worker be lost meanwhile, it comes up again.
  redis.call('ZADD', DUE_VIOLATIONS, now + lease_ms, id)
  return { 'token_first' }
end
take_slot_of_budget()

-- Whatever was closed until now is tried by this violation alone.
for _, name in ipairs(gates_for(KIND)) do
  if gate(name .. '.until') ~= '' then
    begin_try(name, member_of(id), lease_ms, now)
  end
end
set_state(id, 'sending')
set_fields({ attempt_id = attempt_id, waits_for = '', ticket_failures = 0 })
add_to_field('attempts', 1)
return take_lease()
