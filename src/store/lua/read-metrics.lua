-- Reads the metrics of consecutive minutes.
--
-- KEYS    1 prefix of the metrics: `<prefix>:<minute>` is a hash of names and numbers
-- ARGV    1 first minute since the epoch · 2 how many
-- RETURNS { current minute, then per minute its names and numbers separated by spaces, '' for none }
local PREFIX, first, count = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])

local reply = { string.format('%.0f', math.floor(redis.call('TIME')[1] / 60)) }
for minute = first, first + count - 1 do
  -- One string per minute: a client takes several times as long to parse the names and numbers separately.
  reply[#reply + 1] = table.concat(redis.call('HGETALL', string.format('%s:%.0f', PREFIX, minute)), ' ')
end
return reply
