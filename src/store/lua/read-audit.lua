-- Reads consecutive lines of the audit, oldest first: those before a sequence number, or the newest ones. The list has no
-- gaps, so the index of a line follows from its sequence number and that of the last line.
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
