-- Keeps refused calls, the newest of each group. A group is a reason and a source, so that a flood pushes out neither the
-- calls of other sources nor those refused for other reasons.
--
-- KEYS 1 groups: sorted set of `<reason> <hash of the source>` → last call · 2 prefix of their lists: `<prefix>:<group>`
-- ARGV 1 calls per group · 2 groups per reason · 3 lifetime, ms · then per call: reason · hash of the source · JSON
--! include shared/now.lua
local GROUPS, PREFIX = KEYS[1], KEYS[2]
local calls_max, groups_max, kept_ms = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

local now = now_ms()

for at = 4, #ARGV, 3 do
  local group = ARGV[at] .. ' ' .. ARGV[at + 1]
  local list = PREFIX .. ':' .. group
  redis.call('LPUSH', list, ARGV[at + 2])
  redis.call('LTRIM', list, 0, calls_max - 1)
  redis.call('PEXPIRE', list, kept_ms)
  redis.call('ZADD', GROUPS, now, group)
end

-- The lists of old groups have expired. Of a reason with too many groups the oldest go.
redis.call('ZREMRANGEBYSCORE', GROUPS, '-inf', now - kept_ms)
local counts = {}
for _, group in ipairs(redis.call('ZREVRANGE', GROUPS, 0, -1)) do
  local reason = string.match(group, '^%S+')
  counts[reason] = (counts[reason] or 0) + 1
  if counts[reason] > groups_max then
    redis.call('ZREM', GROUPS, group)
    redis.call('DEL', PREFIX .. ':' .. group)
  end
end
