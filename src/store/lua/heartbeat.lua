-- Records a heartbeat of a process, and adds what it has counted since the last one to the metrics of the current minute.
--
-- KEYS    1 processes: hash of id → "<start, Unix ms> <document>" · 2 time of the last heartbeat of each process
--         3 prefix of the metrics: `<prefix>:<minute>` is a hash of names and numbers · 4 process that samples the backlog
-- ARGV    1 process id · 2 its document, '' when it stops · 3 ms since its start
--         4 ms without a heartbeat after which a process is removed · 5 sampling interval, ms
--         6 counters: numbers to add, by name, as JSON · 7 gauges: numbers of which the highest is kept, by name, as JSON
--         8 lifetime of the metrics, seconds
-- RETURNS { 'sample', now } when this process is to sample the backlog, else { '', now }; now in Unix ms
--! include shared/lock.lua
--! include shared/now.lua
local PROCESSES, HEARTBEATS, METRICS, SAMPLING = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, document = ARGV[1], ARGV[2]
local MINUTE_MS = 60000

local now = now_ms()
local now_text = string.format('%.0f', now)

local bucket = string.format('%s:%.0f', METRICS, math.floor(now / MINUTE_MS))
if redis.call('HSETNX', bucket, 'lived', 1) == 1 then
  redis.call('EXPIRE', bucket, ARGV[8])
end
for name, by in pairs(cjson.decode(ARGV[6])) do
  redis.call('HINCRBY', bucket, name, string.format('%.0f', by))
end
local gauges = cjson.decode(ARGV[7])
local names, higher = {}, {}
for name in pairs(gauges) do
  names[#names + 1] = name
end
if #names > 0 then
  for place, before in ipairs(redis.call('HMGET', bucket, unpack(names))) do
    local value = gauges[names[place]]
    if not before or tonumber(before) < value then
      higher[#higher + 1] = names[place]
      higher[#higher + 1] = string.format('%.0f', value)
    end
  end
end
if #higher > 0 then
  redis.call('HSET', bucket, unpack(higher))
end

local drop_before = string.format('(%.0f', now - tonumber(ARGV[4]))
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', HEARTBEATS, '-inf', drop_before)) do
  redis.call('ZREM', HEARTBEATS, gone)
  redis.call('HDEL', PROCESSES, gone)
end

if document == '' then
  redis.call('ZREM', HEARTBEATS, id)
  redis.call('HDEL', PROCESSES, id)
  return { '', now_text }
end
local before = redis.call('HGET', PROCESSES, id)
local started_at = before and string.match(before, '^%d+') or string.format('%.0f', now - tonumber(ARGV[3]))
local stored = started_at .. ' ' .. document
if stored ~= before then
  redis.call('HSET', PROCESSES, id, stored)
end
redis.call('ZADD', HEARTBEATS, now, id)
return { acquire_lock(SAMPLING, id, ARGV[5]) and 'sample' or '', now_text }
