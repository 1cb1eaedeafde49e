-- Reads the figures of minutes that follow each other.
--
-- KEYS    1 figures: with the minute behind, a hash of names and numbers
-- ARGV    1 the first minute, counted from the epoch · 2 how many
-- RETURNS { the minute that runs, then of each minute its names and numbers with spaces in between, '' when there are none }
local FIGURES, first, count = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])

local reply = { string.format('%.0f', math.floor(redis.call('TIME')[1] / 60)) }
for minute = first, first + count - 1 do
  -- One text a minute: a client takes several times as long to read its names and numbers one by one.
  reply[#reply + 1] = table.concat(redis.call('HGETALL', string.format('%s:%.0f', FIGURES, minute)), ' ')
end
return reply
