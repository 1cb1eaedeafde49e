-- Where one acknowledged delivery, one recorded fact or one violation stands: in exactly one of the states finished, waiting, parked,
-- with_a_person and lost. What waits is found by its due mark, what a person has by its open task; what has neither is
-- lost: nothing would ever come back to it.
--
-- Included by a script whose KEYS are those of a tow, a delivery and a violation without a name (violationKeys('') of
-- src/store/keys.ts). The keys of a named one are these with its name behind, and lie in the same hash slot.
--! include shared/outbox.lua
--! include shared/violation.lua

local TOW_OF, REPORTS_OF, PARKED_OF, PROOF_OF, DELIVERY_OF = TOW, REPORTS, PARKED, PROOF, DELIVERY
local VIOLATION_OF = VIOLATION
local UNSETTLED = { pending = true, sending = true, unknown = true, refused = true }
local KNOWN_VIOLATION_STATES =
  { pending = true, held = true, sending = true, unknown = true, refused = true, accepted = true, waived = true }

-- From here on the functions of shared/outbox.lua are about this tow.
local function turn_to_tow(ref)
  TOW, REPORTS, PARKED, PROOF = TOW_OF .. ref, REPORTS_OF .. ref, PARKED_OF .. ref, PROOF_OF .. ref
end

-- What lacks nothing but its due mark is given one. It was lost all the same, until now.
local function mend(due_set, name, now)
  redis.call('ZADD', due_set, now, name)
  return 'lost', true
end

local function standing_of_parked(id, ref, now)
  turn_to_tow(ref)
  local is_due = redis.call('ZSCORE', DUE_DELIVERIES, id)
  if redis.call('EXISTS', TOW) == 1 or is_buried(ref) then
    -- The tow took it from the list when it came into being.
    if is_due then
      return 'waiting'
    end
    return mend(DUE_DELIVERIES, id, now)
  end
  if not redis.call('LPOS', PARKED, id) then
    return 'lost'
  end
  if is_due then
    return 'parked'
  end
  if redis.call('HEXISTS', TASKS, 'invoice_parked.' .. ref) == 1 then
    return 'with_a_person'
  end
  return mend(DUE_DELIVERIES, id, now)
end

-- The state of a delivery, and true when it was lost for want of its due mark and has been mended.
local function standing_of_delivery(id, now)
  local record = redis.call('HMGET', DELIVERY_OF .. id, 'state', 'towing_reference_id', 'verdict')
  local state, ref, verdict = record[1], record[2], record[3]
  if state == 'processed' then
    -- Of a tow request the tow must be somewhere: here or in the archive.
    local has_vanished = verdict == 'created' and redis.call('EXISTS', TOW_OF .. ref) == 0 and not is_buried(ref)
    return has_vanished and 'lost' or 'finished'
  elseif state == 'waiting' then
    if redis.call('ZSCORE', DUE_DELIVERIES, id) then
      return 'waiting'
    end
    return mend(DUE_DELIVERIES, id, now)
  elseif state == 'parked' and ref then
    return standing_of_parked(id, ref, now)
  end
  -- There is no such record, or nobody knows such a state.
  return 'lost'
end

-- The first report that is not settled, and its state.
local function head_of_outbox(head, tail)
  for seq = head, tail do
    local state = report(seq, 'state')
    if not is_settled(state) then
      return seq, state
    end
  end
end

-- The state of a report, and true when it was lost for want of its tow's due mark and has been mended. A report behind
-- the head of its outbox waits for as long as the head itself is not lost.
local function standing_of_report(ref, seq, now)
  turn_to_tow(ref)
  local state = report(seq, 'state')
  local tow = redis.call('HMGET', TOW, 'head', 'tail', 'lease_until')
  if state == '' or not tow[1] then
    return 'lost'
  end
  if is_settled(state) then
    return 'finished'
  end
  local tail = number_of(tow[2])
  local head, state_of_head = head_of_outbox(number_of(tow[1]), tail)
  local is_in_line = head and seq >= head and seq <= tail
  if not is_in_line or not UNSETTLED[state] or not UNSETTLED[state_of_head] then
    return 'lost'
  end
  if redis.call('HEXISTS', TASKS, report(head, 'id') .. '.' .. ref) == 1 then
    return seq == head and 'with_a_person' or 'waiting'
  end
  if redis.call('ZSCORE', DUE_TOWS, ref) or number_of(tow[3]) > now then
    return 'waiting'
  end
  if due_of_head(head, now, 0) then
    return mend(DUE_TOWS, ref, now)
  end
  -- Only a person could go on, and nobody was asked.
  return 'lost'
end

-- The state of a violation, and true when it was lost for want of its due mark and has been mended. Settled it is finished
-- only once nothing is left to be cleared up behind it.
local function standing_of_violation(id, now)
  -- From here on the functions of shared/violation.lua are about this one.
  VIOLATION = VIOLATION_OF .. id
  local state = field('state')
  if not KNOWN_VIOLATION_STATES[state] then
    return 'lost'
  end
  if has_ended(state) and field('unfinished') == '' then
    return 'finished'
  end
  if redis.call('HEXISTS', TASKS, violation_task(id)) == 1 then
    return 'with_a_person'
  end
  if redis.call('ZSCORE', DUE_VIOLATIONS, id) or number_of(field('lease_until')) > now then
    return 'waiting'
  end
  if due_of_violation(now, 0) then
    return mend(DUE_VIOLATIONS, id, now)
  end
  -- Only a person could go on, and nobody was asked.
  return 'lost'
end
