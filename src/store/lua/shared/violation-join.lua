-- What it means for a violation that a tow comes from it.
--! include shared/violation-end.lua

-- What was surely never sent cannot have been taken.
local function may_have_been_sent()
  local may_be_open = number_of(field('possible_effects')) > 0 or field('attempt_id') ~= ''
  return may_be_open or field('state') == 'unknown' or field('state') == 'accepted'
end

-- Stores what the caller has found out about a tow of this violation. `proves`: the service has the violation.
local function note_join(id, tow, found)
  local now = now_ms()
  local is_new_tow = put_among(VIOLATION, 'tows', tow.towing_reference)
  if not (is_new_tow or found.is_new_reference or found.proves) then
    return
  end
  add_violation_terms(id, tow.terms)
  if found.proves then
    local sent_revision = field('sent_revision')
    if sent_revision ~= '' and sent_revision ~= field('revision') then
      open_general_task(tow.correction_task.id, tow.correction_task.json, id)
    end
    accept_violation(id, now, 'proved_by_tow_request')
  elseif found.is_new_reference and has_ended(field('state')) then
    begin_clearing_up()
  end
  raise_violation(id)
  reschedule_violation(id, now, WAKE_GRACE_MS)
end
