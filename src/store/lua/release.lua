-- Makes some of the members due that a closed circuit has blocked. After the last of them the circuit is released.
--
-- KEYS    1 blocked members · 2 those of them that may probe · 3 circuits to release · 4 due tows · 5 due violations
-- ARGV    1 circuit · 2 how many at most · 3 prefix of the members that are violations · 4 prefix that a tow may have
-- RETURNS how many were made due
--! include shared/now.lua

local function without(prefix, member)
  return string.sub(member, 1, #prefix) == prefix and string.sub(member, #prefix + 1) or nil
end

local members = redis.call('SPOP', KEYS[1], ARGV[2])
local now = string.format('%.0f', now_ms())
local tows, violations = {}, {}
for _, member in ipairs(members) do
  local violation = without(ARGV[3], member)
  local due = violation and violations or tows
  due[#due + 1] = now
  due[#due + 1] = violation or without(ARGV[4], member) or member
end
-- The number of members is bounded, because Lua unpacks them on its stack.
if #members > 0 then
  redis.call('SREM', KEYS[2], unpack(members))
end
if #tows > 0 then
  redis.call('ZADD', KEYS[4], unpack(tows))
end
if #violations > 0 then
  redis.call('ZADD', KEYS[5], unpack(violations))
end
if redis.call('SCARD', KEYS[1]) == 0 then
  redis.call('SREM', KEYS[3], ARGV[1])
end
return #members
