-- Lists a tow that an earlier version wrote, or wrote last, without all by which lists find it. What is asked about a tow
-- that is not here needs no row among the tows that need a person.
--
-- KEYS    the keys of one tow (see shared/tow.lua)
-- ARGV    1 towing reference · 2 version that was read · 3 what lists find it by as JSON (see list_tow in shared/listing.lua)
-- RETURNS 'listed' · 'stale' read it again · 'gone' there is no such tow
--! include shared/outbox.lua
--! include shared/listing.lua

local STATES = { 'requested', 'started', 'detained', 'released', 'canceled' }
local ref = ARGV[1]
if redis.call('EXISTS', TOW) == 0 then
  redis.call('ZREM', ATTENTION, ref)
  return 'gone'
end
if redis.call('HGET', TOW, 'version') ~= ARGV[2] then
  return 'stale'
end
local state = redis.call('HGET', TOW, 'state')
for _, other in ipairs(STATES) do
  if other ~= state then
    redis.call('ZREM', SINCE .. other, ref)
  end
end
list_tow(ref, state, cjson.decode(ARGV[3]))
settle_head(ref)
redis.call('HSET', TOW, 'listed', ARGV[2])
return 'listed'
