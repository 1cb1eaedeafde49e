-- Notes that a tow came from a violation, and how the service calls it. Of a violation that may have been sent without an
-- answer this is the proof that the service has it.
--
-- KEYS    the keys of one violation (see shared/violation.lua)
-- ARGV    1 our id · 2 the tow as JSON: { towing_reference, reference: the service's name of the violation,
--           terms: [text], correction_task: { id, json } the task about a proof of what was corrected since }
-- RETURNS { 'joined', the name that is shown } · { 'gone' } there is no such violation
--         { 'taken' } another violation has that name: the tow comes from that one
--! include shared/violation-join.lua

local id, tow = ARGV[1], cjson.decode(ARGV[2])
if redis.call('EXISTS', VIOLATION) == 0 then
  return { 'gone' }
end
if other_owner(id, tow.reference) then
  return { 'taken' }
end

-- A name that is not known yet was found by the id that the service echoes.
local is_new = not is_among(list_of(VIOLATION, 'references'), tow.reference)
local may_be_there = may_have_been_sent()
-- A name from before it was first sent proves nothing of what was sent since. What a person gave up stays as he left it.
local is_proof = may_be_there and (is_new or is_told(VIOLATION, tow.reference))
local found = { proves = is_proof and not has_ended(field('state')) }
found.is_new_reference = add_reference(id, tow.reference, {
  is_told = is_new and may_be_there,
  is_main = found.proves,
})
note_join(id, tow, found)
return { 'joined', field('reference') }
