-- Gives the next task of a bulk run to a lane of the process that runs it. A lane whose reply was lost gets the same task
-- again. What has begun once may have been done, whatever was written down.
--
-- KEYS    the keys of a bulk run (see shared/bulk.lua)
-- ARGV    1 number of the taking · 2 ms the lease lasts from now · 3 lane
-- RETURNS { 'item', position, target as JSON, 1 when it has begun before, else 0 } · { 'none' } · { 'stopped' } it is
--         aborted, gone, or another process has it
--! include shared/bulk.lua

if run_field('epoch') ~= ARGV[1] or run_field('state') ~= 'running' then
  return { 'stopped' }
end
lease_for(tonumber(ARGV[2]))
local lane, total = 'lane:' .. ARGV[3], tonumber(run_field('total'))

local function begin(position)
  local before = has_begun(position) and 1 or 0
  redis.call('HSET', ITEMS, position .. ':begun', ARGV[1])
  redis.call('HSET', RUN, lane, ARGV[1] .. ':' .. position)
  return { 'item', position, redis.call('HGET', ITEMS, position .. ':target'), before }
end

local epoch, last = string.match(run_field(lane), '^(%d+):(%d+)$')
if epoch == ARGV[1] and outcome_of(last) == 'waiting' then
  return begin(tonumber(last))
end
local position = tonumber(run_field('cursor'))
while position < total and outcome_of(position) ~= 'waiting' do
  position = position + 1
end
redis.call('HSET', RUN, 'cursor', position + 1)
if position >= total then
  return { 'none' }
end
return begin(position)
