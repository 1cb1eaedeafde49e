-- Reads several keys at one instant. MULTI would do the same, but Redis refuses to queue a command while it has no memory
-- left; a script that only reads is carried out.
--
-- KEYS    every key that the reads name
-- ARGV    1 the reads as JSON: [[command, key by its place, argument, …]]
-- RETURNS the reply of each; nil when its key holds another type

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
