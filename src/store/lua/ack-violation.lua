-- Stores what came of one attempt to send a violation and gives the lease back. An answer that comes too late, to a form
-- that was corrected or to a claim that was lost, is added to the attempts and changes nothing, except unknown to accepted
-- for the same form.
--
-- KEYS    the keys of one violation (see shared/violation.lua)
-- ARGV    1 our id · 2 attempt id · 3 revision · 4 lease token · 5 next: accepted|refused|retry|unknown|hold · 6 delay ms
--         7 attempt as JSON · 8 changes as JSON: those of ack.lua, and terms: [text],
--           named: { reference, service_status, can_tow } | false, permit_spent: false while the slot taken with the claim is there and unused
-- RETURNS 'done' · 'late' · 'late_accepted' · 'gone'
--! include shared/violation-gates.lua

-- As in ack.lua.
local PROBE_TURN_MS, CONNECTION_WAIT_MAX_MS = 500, 30000
local DROPS_MAX, DROP_WAIT_MS, DROP_WAIT_MAX_MS = 3, 1000, 60000
local KIND = 'violation'
local id, attempt_id, revision, token = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local outcome, delay_ms, changes = ARGV[5], tonumber(ARGV[6]), cjson.decode(ARGV[8])

if redis.call('EXISTS', VIOLATION) == 0 then
  return 'gone'
end
local now = now_ms()
if outcome ~= 'hold' then
  log_violation_attempt(ARGV[7])
end
local same_form = field('revision') == revision
local is_ours = same_form and field('attempt_id') == attempt_id and field('lease_token') == token

-- What the service said, and how it calls the violation.
local function keep_answer()
  set_fields({ answer = changes.answer, raw_body = changes.raw_body })
  if not changes.named then
    return
  end
  set_fields({ service_status = changes.named.service_status, can_tow = changes.named.can_tow })
  add_reference(id, changes.named.reference, { is_told = true, is_main = true })
  add_violation_terms(id, changes.terms)
end

-- Accepted by an answer that breaks the contract: until a person has looked its images stay, and it may be sent again.
local function ask_about_answer()
  if changes.task then
    set_fields({ drift = '1' })
    open_general_task(changes.task.id, changes.task.json, id)
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
      resume_operation(KIND, now)
    end
  end
end

-- Sent without an answer, and not on its way again: the answer settles it after all.
local function is_open_question()
  local state = field('state')
  return state == 'unknown' or (state == 'pending' and number_of(field('possible_effects')) > 0)
end

note_life()
if not is_ours then
  local settles = outcome == 'accepted' and same_form and is_open_question()
  if settles then
    keep_answer()
    accept_violation(id, now, 'late_answer')
    ask_about_answer()
  end
  raise_violation(id)
  reschedule_violation(id, now, 0)
  return settles and 'late_accepted' or 'late'
end

local function count_failure()
  add_to_field('failures', 1)
  add_to_field('not_found', changes.not_found)
  add_to_field('unanswered', changes.unanswered)
  set_fields({ drops = 0 })
  start_violation_clock(now, changes.give_up_ms)
end

-- Nothing that counts was sent. Dropped for its age now and then a claim is no failure; dropped again and again it is.
local function count_hold()
  add_to_field('attempts', -1)
  if changes.connection then
    add_to_field('connection_losses', changes.connection_loss)
  elseif changes.too_old and add_to_field('drops', 1) >= DROPS_MAX then
    start_violation_clock(now, changes.give_up_ms)
    delay_ms = math.min(DROP_WAIT_MAX_MS, DROP_WAIT_MS * 2 ^ math.min(number_of(field('drops')) - DROPS_MAX, 10))
  end
end

-- Tells when it comes up again: after its own wait, or, while a gate is closed, as soon as that opens, but never before
-- the moment the service asked for. Returns the gate.
local function rest_until_next_try()
  local held_by = closed_gate(KIND, now)
  local next_at = now + delay_ms
  if changes.connection and outcome == 'hold' then
    next_at = now + math.max(changes.asked_ms, math.min(delay_ms, CONNECTION_WAIT_MAX_MS)) + PROBE_TURN_MS
  end
  set_state(id, resting_state_of_violation())
  set_fields({ next_at = next_at, error = changes.error })
  return field('state') == 'pending' and held_by or nil
end

-- What an attempt that did not succeed leaves behind; returns the gate it waits for.
local function store_failure(is_paused)
  if not changes.no_effect then
    note_possible_effect()
  end
  if outcome == 'refused' and not is_paused then
    set_state(id, 'refused')
    set_fields({ next_at = '', error = changes.error, hint = changes.hint, forbidden = changes.forbidden and '1' or '' })
    return nil
  end
  if outcome == 'hold' then
    count_hold()
  else
    count_failure()
  end
  return rest_until_next_try()
end

give_lease_back()
if not changes.permit_spent then
  give_slot_back(now)
end
set_fields({ attempt_id = '', slot_at = '' })
local is_paused = changes.forbidden and note_forbidden(member_of(id), KIND, changes.paused_task, now)
if changes.connection then
  lose_connection(changes, now)
elseif changes.service == 'failing' then
  note_failure(member_of(id), changes.outage_delay_ms, changes.outage_task, now)
end

-- Proved while it was under way: whatever came of the call, the service has it.
local is_proved, held_by = has_ended(field('state')), nil
if outcome == 'accepted' then
  keep_answer()
  if not is_proved then
    accept_violation(id, now, 'answered')
  end
elseif not is_proved then
  held_by = store_failure(is_paused)
end
if outcome == 'accepted' then
  ask_about_answer()
elseif changes.task and not is_paused and not is_proved then
  open_general_task(changes.task.id, changes.task.json, id)
end

raise_violation(id)
local due = reschedule_violation(id, now, WAKE_GRACE_MS)
if held_by then
  local _, closed_until = closed_gate(KIND, now)
  hold_violation(id, { gate = held_by, at = math.max(closed_until + PROBE_TURN_MS, due or now), now = now })
end
return 'done'
