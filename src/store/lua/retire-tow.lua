-- Takes a tow out of Redis that stands in the archive, with all that is kept of it, and remembers that it was there. Only
-- as it was archived: a tow that has changed since, or may no longer leave, stays.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 towing reference · 2 version that was archived
-- RETURNS 'retired' · 'kept' · 'gone' there is no such tow
--! include shared/outbox.lua
--! include shared/listing.lua

local ref, archived_version = ARGV[1], ARGV[2]
if redis.call('EXISTS', TOW) == 0 then
  redis.call('ZREM', RETIRE_TOWS, ref)
  return 'gone'
end
local now, owes_something = now_ms(), settle_head(ref) ~= nil
local is_claimed = number_of(redis.call('HGET', TOW, 'lease_until')) > now
if redis.call('HGET', TOW, 'version') ~= archived_version or is_claimed or not may_leave(owes_something) then
  note_retirement(ref, owes_something)
  return 'kept'
end

for _, term in ipairs(redis.call('SMEMBERS', TERMS)) do
  redis.call('ZREM', SEARCH, term .. '\n' .. ref)
end
strike_reports(ref, number_of(redis.call('HGET', TOW, 'tail')))
unlist_tow(ref)
for _, rows in ipairs({ ATTENTION, DUE_TOWS, SLOT_WAITING, RETIRE_TOWS }) do
  redis.call('ZREM', rows, ref)
end
leave_held(ref)
redis.call('DEL', TOW, REPORTS, TIMELINE, TOW_TASKS, PARKED, PROOF, TERMS)
redis.call('ZADD', TOMBSTONES, now, ref)
publish('tow.archived', ref)
return 'retired'
