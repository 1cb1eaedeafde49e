-- Gives a bulk run to a process: to begin it, to go on with one that nobody runs any more, or to write down what became of
-- the tasks that were being decided when an aborted one lost its process. Each taking has a number of its own.
--
-- KEYS    the keys of a bulk run (see shared/bulk.lua)
-- ARGV    1 start|resume|settle · 2 ms the lease lasts · 3 who lets it run as JSON · 4 audit entry as JSON, or ''
--         5 ms it is kept from its start
-- RETURNS { 'taken', number } · { 'not_now', state } · { 'nothing_waits' } · { 'unknown' }
--! include shared/bulk.lua
--! include shared/audit.lua

local STATES = { start = 'previewed', resume = 'interrupted', settle = 'aborted' }
local mode = ARGV[1]
if not is_known() then
  return { 'unknown' }
end
local state = state_of_run()
if state ~= STATES[mode] or is_leased() then
  return { 'not_now', state }
end
if run_field('waiting') == '0' then
  return { 'nothing_waits' }
end
local epoch = redis.call('HINCRBY', RUN, 'epoch', 1)
redis.call('HSET', RUN, 'cursor', 0)
lease_for(tonumber(ARGV[2]))
if mode ~= 'settle' then
  redis.call('HSET', RUN, 'state', 'running', 'interruption', '', 'run_by', ARGV[3])
end
if mode == 'start' then
  redis.call('HSET', RUN, 'started_at', now_ms())
  expire_in(tonumber(ARGV[5]))
end
append_audit_if_any(ARGV[4])
publish_run()
return { 'taken', epoch }
