-- How a violation ends: accepted or waived; and how it leaves what it waited for.
--! include shared/violation-names.lua

-- A violation is held by one gate at a time (gates.lua), and remembers by which.
local function leave_gate(id)
  local name = field('held_by')
  if name ~= '' then
    redis.call('SREM', HELD .. ':' .. name, member_of(id))
    redis.call('HDEL', VIOLATION, 'held_by')
  end
end

-- While a gate holds a violation its give-up clock stands still.
local function stop_waiting_at_gate(id, now)
  leave_gate(id)
  local since, give_up_at = field('held_since'), field('give_up_at')
  if since == '' then
    return
  end
  set_fields({ held_since = '', waits_for = '' })
  if give_up_at ~= '' then
    set_fields({ give_up_at = give_up_at + now - since })
  end
end

-- The slot it was given and will not use: of no call, so that the first in line may have it.
local function give_slot_back(now)
  local at = field('slot_at')
  if at == '' then
    return
  end
  redis.call('LREM', VIOLATION_SLOTS, 1, at)
  set_fields({ slot_at = '' })
  local first = redis.call('ZRANGE', VIOLATION_LINE, 0, 0)[1]
  if first then
    redis.call('ZADD', DUE_VIOLATIONS, 'XX', 'LT', now, first)
  end
end

local function give_lease_back()
  redis.call('HDEL', VIOLATION, 'lease_token', 'lease_until')
end

-- Somebody holds the right to send it, or to ask for a ticket.
local function is_leased(now)
  return number_of(field('lease_until')) > now
end

-- Gives back what was claimed without having been used: no attempt was made.
local function undo_claim(now)
  if field('attempt_id') ~= '' then
    add_to_field('attempts', -1)
    set_fields({ attempt_id = '' })
    give_slot_back(now)
  end
  give_lease_back()
end

-- There is something to clear up behind it: its tows are to be joined, its files to go. From the version on that the
-- caller is about to raise it to.
local function begin_clearing_up()
  set_fields({ unfinished = number_of(field('version')) + 1 })
end

local function end_violation(id, state, now)
  set_state(id, state)
  set_fields({ next_at = '', settled_at = now, held_because = '' })
  stop_waiting_at_gate(id, now)
  redis.call('ZREM', VIOLATION_LINE, id)
  close_general_task(violation_task(id), id)
  begin_clearing_up()
end

-- The question about the answer by which it was accepted is closed: its images may go.
local function settle_answer(id)
  if field('drift') == '1' and has_ended(field('state')) then
    set_fields({ drift = '' })
    begin_clearing_up()
  end
end

-- Owes an accepted violation once more. The send that was accepted counts as one without an answer: it may have worked.
local function owe_violation_again(id)
  set_fields({ drift = '', unfinished = '', settled_at = '', accepted_how = '', accepted_at = '' })
  add_to_field('unanswered', 1)
  note_possible_effect()
  close_general_task('violation_contract.' .. id, id)
end

-- By the service's answer, by proof, or by hand. A call that is under way then keeps its claim: its answer is kept too.
local function accept_violation(id, now, how)
  end_violation(id, 'accepted', now)
  set_fields({ accepted_how = how, accepted_at = now, error = '', hint = '', waits_for = '' })
end
