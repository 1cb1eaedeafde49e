-- Takes a violation out of Redis that stands in the archive, with every name it is found by. Only as it was archived: one
-- that has changed since, or may no longer leave, stays.
--
-- KEYS    the keys of one violation (see shared/violation.lua)
-- ARGV    1 our id · 2 version that was archived
-- RETURNS 'retired' · 'kept' · 'gone' there is no such violation
--! include shared/violation-end.lua

local id, archived_version = ARGV[1], ARGV[2]
if redis.call('EXISTS', VIOLATION) == 0 then
  redis.call('ZREM', RETIRE_VIOLATIONS, id)
  return 'gone'
end
if field('version') ~= archived_version or is_leased(now_ms()) or not violation_may_leave(id) then
  note_violation_retirement(id)
  return 'kept'
end

for _, term in ipairs(redis.call('SMEMBERS', VIOLATION_TERMS)) do
  redis.call('ZREM', SEARCH_VIOLATIONS, term .. '\n' .. id)
end
for _, reference in ipairs(list_of(VIOLATION, 'references')) do
  -- A name that another violation has stays that one's.
  if redis.call('HGET', REFERENCES, reference) == id then
    redis.call('HDEL', REFERENCES, reference)
  end
end
redis.call('HDEL', ALIASES, id)
-- Given up unsent, it may have left this name to another one.
if redis.call('HGET', ALIASES, field('alias')) == id then
  redis.call('HDEL', ALIASES, field('alias'))
end
strike_violation(id)
leave_gate(id)
redis.call('ZREM', INDEX_VIOLATIONS .. ':' .. field('state'), id)
for _, rows in ipairs({ INDEX_VIOLATIONS, DUE_VIOLATIONS, VIOLATION_LINE, RETIRE_VIOLATIONS }) do
  redis.call('ZREM', rows, id)
end
redis.call('DEL', VIOLATION, VIOLATION_TERMS)
publish('violation.archived', cjson.null, id)
return 'retired'
