-- Replaces an element of a list, if it is still there.
--
-- KEYS    1 list
-- ARGV    1 the element · 2 what replaces it
-- RETURNS 1 when replaced, 0 when it has left the list
local place = redis.call('LPOS', KEYS[1], ARGV[1])
if not place then
  return 0
end
redis.call('LSET', KEYS[1], place, ARGV[2])
return 1
