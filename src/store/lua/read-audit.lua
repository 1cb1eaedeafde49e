-- A stretch of the audit, oldest first: the lines right before a seq, or the newest ones. The seq of the last line and
-- the place of each line tell each other, since the list has no gaps.
--
-- KEYS    1 the audit
-- ARGV    1 seq, or '' for the newest · 2 how many lines at most
-- RETURNS lines
local last = redis.call('LINDEX', KEYS[1], -1)
if not last then
  return {}
end
local after_last = tonumber(string.match(last, '^(%d+) ')) + 1
local before = ARGV[1] == '' and after_last or math.min(tonumber(ARGV[1]), after_last)
local stop = before - after_last - 1
local start = stop - tonumber(ARGV[2]) + 1
return redis.call('LRANGE', KEYS[1], string.format('%.0f', start), string.format('%.0f', stop))
