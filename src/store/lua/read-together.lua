-- Reads several keys at one instant. Unlike MULTI, a script that only reads also runs while Redis has no memory left.
--
-- KEYS    every key of the reads
-- ARGV    1 the reads as JSON: [[command, number of the key, argument, …]]
-- RETURNS the reply of each read; nil when its key has another type

local COMMANDS = { HEXISTS = true, HGET = true, HGETALL = true, HMGET = true, LINDEX = true, LRANGE = true, ZSCORE = true }

local replies = {}
for place, read in ipairs(cjson.decode(ARGV[1])) do
  if not COMMANDS[read[1]] then
    return redis.error_reply('no such read: ' .. read[1])
  end
  local reply = redis.pcall(read[1], KEYS[read[2]], unpack(read, 3))
  local problem = type(reply) == 'table' and reply.err
  if problem and not string.find(problem, '^WRONGTYPE') then
    return reply
  end
  replies[place] = not problem and reply
end
return replies
