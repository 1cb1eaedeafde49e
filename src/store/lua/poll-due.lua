-- Returns members that are due and reschedules each of them, so that no other scheduler returns it and a lost job is
-- added again.
--
-- KEYS    1 schedule
-- ARGV    1 how many at most · 2 visibility timeout: the members are due again after this, ms
-- RETURNS { member, … }
local time = redis.call('TIME')
-- Rounded up, as scores are: what is due now must not wait for the next poll.
local now = time[1] * 1000 + math.ceil(time[2] / 1000)
local members = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, member in ipairs(members) do
  redis.call('ZADD', KEYS[1], now + ARGV[2], member)
end
return members
