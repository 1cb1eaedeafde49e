-- A process says that it lives, and adds what it has counted since it last did to the figures of the minute that runs.
--
-- KEYS    1 processes: a hash from id to "<ms since the epoch when it started> <document>" · 2 when each of them was last
--         heard of · 3 figures: with the minute behind, a hash of names and numbers · 4 the right to look at the backlog
-- ARGV    1 id of the process · 2 its document, '' when it stops · 3 ms since it started
--         4 ms after which a process that is not heard of is dropped · 5 ms for which the right to look is given
--         6 numbers to add, by name, as JSON · 7 numbers of which the highest counts, by name, as JSON
--         8 seconds that figures are kept
-- RETURNS { 'sample', now } when this process is to look at the backlog · { '', now }, in ms since the epoch
local PROCESSES, BEATS, FIGURES, SAMPLING = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, document = ARGV[1], ARGV[2]
local MINUTE_MS = 60000

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local now_text = string.format('%.0f', now)

local bucket = string.format('%s:%.0f', FIGURES, math.floor(now / MINUTE_MS))
if redis.call('HSETNX', bucket, 'lived', 1) == 1 then
  redis.call('EXPIRE', bucket, ARGV[8])
end
for name, by in pairs(cjson.decode(ARGV[6])) do
  redis.call('HINCRBY', bucket, name, string.format('%.0f', by))
end
for name, value in pairs(cjson.decode(ARGV[7])) do
  local before = redis.call('HGET', bucket, name)
  if not before or tonumber(before) < value then
    redis.call('HSET', bucket, name, string.format('%.0f', value))
  end
end

local silent_since = string.format('(%.0f', now - tonumber(ARGV[4]))
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', BEATS, '-inf', silent_since)) do
  redis.call('ZREM', BEATS, gone)
  redis.call('HDEL', PROCESSES, gone)
end

if document == '' then
  redis.call('ZREM', BEATS, id)
  redis.call('HDEL', PROCESSES, id)
  return { '', now_text }
end
local before = redis.call('HGET', PROCESSES, id)
local started_at = before and string.match(before, '^%d+') or string.format('%.0f', now - tonumber(ARGV[3]))
local said = started_at .. ' ' .. document
if said ~= before then
  redis.call('HSET', PROCESSES, id, said)
end
redis.call('ZADD', BEATS, now, id)
return { redis.call('SET', SAMPLING, id, 'NX', 'PX', ARGV[5]) and 'sample' or '', now_text }
