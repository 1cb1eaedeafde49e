-- Writes down what became of a task of a bulk run. That it was done is a fact, whoever brings it and however late; any
-- other result counts only from the process that has the run, and only the first one.
--
-- KEYS    the keys of a bulk run (see shared/bulk.lua)
-- ARGV    1 number of the taking · 2 position · 3 outcome · 4 words as JSON, or ''
-- RETURNS 1 when it stands so now, else 0
--! include shared/bulk.lua

if not is_known() then
  return 0
end
local position, outcome = ARGV[2], ARGV[3]
local before = outcome_of(position)
if before == outcome then
  return 1
end
if outcome ~= 'done' and (before ~= 'waiting' or run_field('epoch') ~= ARGV[1]) then
  return 0
end
settle_item(position, outcome, ARGV[4])
publish_run()
return 1
