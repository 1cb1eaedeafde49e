-- What is known of a question: an answer that is fresh enough, or who is asking it, or that nobody is: then the right to
-- ask it is taken.
--
-- KEYS    1 answer · 2 right to ask
-- ARGV    1 who wants to know · 2 ms the right lasts · 3 ms an answer stays fresh
--         4 the asker that was waited for until now, '' nobody: his answer is taken however old
-- RETURNS { 'answer', data as JSON, ms since the epoch by the asker's clock } · { 'ask' } · { 'wait', asker }

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local data, kept_at, checked_at, asker = unpack(redis.call('HMGET', KEYS[1], 'data', 'kept_at', 'checked_at', 'asker'))
if data and (now - tonumber(kept_at) < tonumber(ARGV[3]) or asker == ARGV[4]) then
  return { 'answer', data, checked_at }
end
local holder = redis.call('GET', KEYS[2])
if holder then
  return { 'wait', holder }
end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return { 'ask' }
