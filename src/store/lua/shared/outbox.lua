-- The outbox of a tow: its reports in order, and when the head of them needs a worker next.
--! include shared/tow.lua
--! include shared/tasks.lua
--! include shared/ledger.lua
--! include shared/retirement.lua

-- A tow is held by one gate at a time (gates.lua), and remembers by which.
local function leave_held(ref)
  local name = redis.call('HGET', TOW, 'held_by')
  if name then
    redis.call('SREM', HELD .. ':' .. name, ref)
    redis.call('SREM', PROBES .. ':' .. name, ref)
    redis.call('HDEL', TOW, 'held_by')
  end
end

local function is_settled(state)
  return state == 'accepted' or state == 'waived'
end

-- Moves the head past everything settled; returns the head, or nil when nothing is owed. The index of what owes something
-- goes with it.
local function settle_head(ref)
  local head = number_of(redis.call('HGET', TOW, 'head'))
  local tail = number_of(redis.call('HGET', TOW, 'tail'))
  while head <= tail and is_settled(report(head, 'state')) do
    head = head + 1
  end
  redis.call('HSET', TOW, 'head', head)
  if head > tail then
    redis.call('ZREM', UNSENT, ref)
    return nil
  end
  redis.call('ZADD', UNSENT, number_of(report(head, 'created_at')), ref)
  return head
end

-- The clock of giving up runs from the first failure of a report.
local function start_give_up_clock(seq, now, give_up_ms)
  if report(seq, 'first_failed_at') == '' then
    set_report(seq, { first_failed_at = now, give_up_at = now + give_up_ms })
  end
end

-- An invoice webhook that came after the first create was sent proves that the create worked.
local function is_proved(seq)
  local first_sent_us, proof = report(seq, 'first_sent_us'), redis.call('GET', PROOF)
  if report(seq, 'kind') ~= 'invoice' or first_sent_us == '' or not proof then
    return false
  end
  -- What the service refused outright made nothing; refused after an unanswered try, the try may have.
  local may_exist = report(seq, 'state') ~= 'refused' or number_of(report(seq, 'possible_effects')) > 0
  return may_exist and tonumber(proof) >= tonumber(first_sent_us)
end

-- Where a report rests between attempts: once a send without an answer may have worked, it stays unknown.
local function resting_state(seq)
  if report(seq, 'once') == '1' and number_of(report(seq, 'unanswered')) > 0 then
    return 'unknown'
  end
  return 'pending'
end

-- The moment the head needs a worker next, nil when only a person can go on.
local function due_of_head(head, now, wake_grace)
  local state, next_at = report(head, 'state'), report(head, 'next_at')
  local lease_until = number_of(redis.call('HGET', TOW, 'lease_until'))
  if lease_until > now then
    return lease_until
  end
  if state == 'sending' or is_proved(head) then
    return now + wake_grace
  end
  if (state ~= 'pending' and state ~= 'unknown') or next_at == '' then
    return nil
  end
  local due = math.max(number_of(next_at), now + wake_grace)
  local give_up_at = report(head, 'give_up_at')
  return give_up_at == '' and due or math.min(due, math.max(number_of(give_up_at), now + wake_grace))
end

-- Sets the due mark to what the head of the outbox needs next, or removes it when only a person can go on.
local function reschedule(ref, now, wake_grace)
  local head, due = settle_head(ref), nil
  if redis.call('HGET', TOW, 'reconcile') == '1' then
    due = now + wake_grace
  elseif head then
    due = due_of_head(head, now, wake_grace)
  end
  if due then
    redis.call('ZADD', DUE_TOWS, due, ref)
  else
    redis.call('ZREM', DUE_TOWS, ref)
    redis.call('ZREM', SLOT_WAITING, ref)
  end
  note_retirement(ref, head ~= nil)
  return due
end

-- Settles a report as accepted: by the service's answer, by proof, or by hand.
local function accept_report(ref, seq, now, how)
  set_report(seq, { state = 'accepted', settled_at = now, next_at = '', attempt_id = '', error = '', hint = '' })
  close_task(ref, report(seq, 'id') .. '.' .. ref)
  -- A decision by hand has an entry of its own, with who and why.
  if how ~= 'by_hand' then
    remember_on_timeline(cjson.encode({ type = 'report.accepted', report_id = report(seq, 'id'), how = how }))
  end
end

-- Owes an accepted report once more, in its own place: what was recorded after it and is not settled waits for it. The send
-- that was accepted counts as one without an answer: it may have worked.
local function owe_again(ref, seq)
  set_report(seq, { settled_at = '', delivered_at = '' })
  add_to_report(seq, 'unanswered', 1)
  add_to_report(seq, 'possible_effects', 1)
  redis.call('HSET', TOW, 'head', math.min(number_of(redis.call('HGET', TOW, 'head')), number_of(seq)))
  close_task(ref, 'contract-' .. report(seq, 'id') .. '.' .. ref)
end

local function waive_report(ref, seq, now, reason)
  set_report(seq, { state = 'waived', settled_at = now, next_at = '', attempt_id = '', reason = reason })
  close_task(ref, report(seq, 'id') .. '.' .. ref)
end

-- Appends reports to the outbox: [{ id, kind, body, once }], each owed from now on.
local function append_reports(ref, list, now)
  for _, entry in ipairs(list) do
    local seq = redis.call('HINCRBY', TOW, 'tail', 1)
    set_report(seq, {
      id = entry.id,
      kind = entry.kind,
      state = 'pending',
      body = entry.body,
      once = entry.once,
      revision = 1,
      attempts = 0,
      created_at = now,
      next_at = now,
    })
    enter_report(ref, seq, now)
  end
end
