-- A violation before the gates that hold sending (gates.lua).
--! include shared/gates.lua
--! include shared/violation-end.lua

-- Lets a violation wait for a gate; its give-up clock stands still meanwhile.
local function hold_violation(id, hold_by)
  if field('held_by') ~= hold_by.gate then
    leave_gate(id)
    set_fields({ held_by = hold_by.gate })
  end
  redis.call('SADD', HELD .. ':' .. hold_by.gate, member_of(id))
  if field('held_since') == '' then
    set_fields({ held_since = hold_by.now })
  end
  set_fields({ waits_for = hold_by.gate })
  redis.call('ZADD', DUE_VIOLATIONS, next_look(hold_by), id)
end

-- The clock of giving up runs from the first failure.
local function start_violation_clock(now, give_up_ms)
  if field('first_failed_at') == '' then
    set_fields({ first_failed_at = now, give_up_at = now + give_up_ms })
  end
end

-- Sends without an answer that nobody has taken on himself.
local function open_outcomes()
  return number_of(field('unanswered')) - number_of(field('forgiven'))
end

-- Where it rests between attempts: once a send without an answer may have worked, it stays unknown.
local function resting_state_of_violation()
  return open_outcomes() > 0 and 'unknown' or 'pending'
end
