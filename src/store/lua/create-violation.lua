-- Takes in a violation and makes it due.
--
-- KEYS    the keys of one violation (see shared/violation.lua); IDEMPOTENCY is that of the request
-- ARGV    1 our id · 2 document · 3 the id in its metadata · 4 JSON array of search terms
--         5 1 when a tow request may prove it, else 0 · 6 1 when an active ticket would speak against it, else 0
--         7 fingerprint of the request to remember, or '' · 8 its answer · 9 audit entry as JSON
-- RETURNS { 'saved' } · { 'remembered', fingerprint } · { 'alias_taken' } another one that is still here has that id
--         { 'alias_of_waived' } so has one that was waived, and that the service may know by it
--! include shared/violation-names.lua
--! include shared/writes.lua
--! include shared/audit.lua

local id, alias = ARGV[1], ARGV[3]
local remembered = remembered_fingerprint(ARGV[7])
if remembered then
  return { 'remembered', remembered }
end

-- Why the id in its metadata may not be used, nil when it may. Who was given up unsent leaves his to the next.
local function refusal_of_alias()
  local owner = redis.call('HGET', ALIASES, alias)
  if not owner then
    return nil
  end
  local state, effects = unpack(redis.call('HMGET', key_of(id, owner), 'state', 'possible_effects'))
  if state ~= 'waived' or owner == alias then
    return 'alias_taken'
  end
  return number_of(effects) > 0 and 'alias_of_waived' or nil
end

-- What one is called by may not be what another is called by, of whichever kind the names are.
local refusal = refusal_of_alias()
if not refusal and redis.call('HEXISTS', ALIASES, id) == 1 then
  refusal = 'alias_taken'
end
if refusal then
  return { refusal }
end
redis.call('HSET', ALIASES, alias, id)
redis.call('HSET', ALIASES, id, id)

local now = now_ms()
redis.call('HSET', VIOLATION, 'document', ARGV[2], 'alias', alias, 'revision', 1, 'created_at', now, 'next_at', now,
  'provable', ARGV[5], 'depends_on_ticket', ARGV[6])
set_state(id, 'pending')
redis.call('ZADD', INDEX_VIOLATIONS, now, id)
add_violation_terms(id, cjson.decode(ARGV[4]))
enter_violation(id, now)
append_audit_if_any(ARGV[9])
remember_effect(ARGV[7])
if ARGV[7] ~= '' then
  redis.call('HSET', IDEMPOTENCY, 'answer', ARGV[8])
end
raise_violation(id)
reschedule_violation(id, now, WAKE_GRACE_MS)
return { 'saved' }
