-- Counts the tows that are overdue for any reason, each once. Reads only.
--
-- KEYS    1 tows in `requested` by the moment they came there · 2 those in `started` · 3 tows that owe a report by the
--         moment from which on they do
-- ARGV    1 to 3 after how many ms each of them is overdue, 0 = never
-- RETURNS how many
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- The end of what is overdue, nil when nothing ever is.
local function limit_of(place)
  local after = tonumber(ARGV[place])
  return after > 0 and '(' .. string.format('%.0f', now - after) or nil
end

local function count_of(place)
  local limit = limit_of(place)
  return limit and redis.call('ZCOUNT', KEYS[place], '-inf', limit) or 0
end

-- How many are in both: who is in the smaller one is looked for in the larger one.
local function count_of_both(one, other)
  local counts = { [one] = count_of(one), [other] = count_of(other) }
  local small, large = one, other
  if counts[one] > counts[other] then
    small, large = other, one
  end
  if counts[small] == 0 then
    return 0
  end
  local both, after = 0, tonumber(ARGV[large])
  for _, ref in ipairs(redis.call('ZRANGEBYSCORE', KEYS[small], '-inf', limit_of(small))) do
    local since = redis.call('ZSCORE', KEYS[large], ref)
    if since and tonumber(since) < now - after then
      both = both + 1
    end
  end
  return both
end

-- No tow is in two states; but one in either may owe a report too.
return count_of(1) + count_of(2) + count_of(3) - count_of_both(1, 3) - count_of_both(2, 3)
