-- Lets a process have its bulk run for longer.
--
-- KEYS    the keys of a bulk run (see shared/bulk.lua)
-- ARGV    1 number of the taking · 2 ms the lease lasts from now
-- RETURNS 1 when it may begin more tasks, else 0: the run is over, or another process has it
--! include shared/bulk.lua

if run_field('epoch') ~= ARGV[1] then
  return 0
end
local state = run_field('state')
-- Of an aborted run the tasks that have begun are still written down.
if state == 'running' or (state == 'aborted' and is_leased()) then
  lease_for(tonumber(ARGV[2]))
end
return state == 'running' and 1 or 0
