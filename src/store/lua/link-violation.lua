-- Notes that a person says which violation a tow comes from, and takes it from the one it was thought to come from. The
-- name that the service has for the violation of that tow goes along, unless the service itself told it of another one.
-- Of a violation that may have been sent without an answer this is the proof, unless the name was another one's until now.
--
-- KEYS    the keys of one violation (see shared/violation.lua)
-- ARGV    1 our id · 2 the tow as JSON, as for join-violation.lua · 3 the violation it was thought to come from, or ''
-- RETURNS 'linked' · 'gone' there is no such violation
--! include shared/violation-join.lua

local id, tow, before = ARGV[1], cjson.decode(ARGV[2]), ARGV[3]
if redis.call('EXISTS', VIOLATION) == 0 then
  return 'gone'
end
if before ~= '' and before ~= id and redis.call('EXISTS', key_of(id, before)) == 1 then
  take_from(key_of(id, before), 'tows', tow.towing_reference)
  raise_other(id, before)
end

local owner = other_owner(id, tow.reference)
local found = {}
if not owner or take_reference(id, owner, tow.reference) then
  local is_new = not is_among(list_of(VIOLATION, 'references'), tow.reference)
  found.proves = not owner and is_new and may_have_been_sent() and not has_ended(field('state'))
  found.is_new_reference = add_reference(id, tow.reference, { is_main = found.proves })
end
note_join(id, tow, found)
return 'linked'
