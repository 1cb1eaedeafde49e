-- Ends the lease of the process that has a bulk run. What still waits then waits for a person.
--
-- KEYS    the keys of a bulk run (see shared/bulk.lua)
-- ARGV    1 number of the taking · 2 why it is interrupted, if it is
-- RETURNS the state of the run, '' when another process has it or it is gone
--! include shared/bulk.lua

if run_field('epoch') ~= ARGV[1] then
  return ''
end
redis.call('HSET', RUN, 'lease_until', 0)
if run_field('state') == 'running' then
  redis.call('HSET', RUN, 'state', 'interrupted', 'interruption', ARGV[2])
end
publish_run()
return run_field('state')
