-- Ends a bulk run. Tasks that have begun get their own result: they may have been decided.
--
-- KEYS    the keys of a bulk run (see shared/bulk.lua)
-- ARGV    1 audit entry as JSON, or ''
-- RETURNS { 'aborted' } · { 'not_now', state } · { 'unknown' }
--! include shared/bulk.lua
--! include shared/audit.lua

if not is_known() then
  return { 'unknown' }
end
local state = state_of_run()
if state == 'done' or state == 'aborted' then
  return { 'not_now', state }
end
redis.call('HSET', RUN, 'state', 'aborted', 'ended_at', now_ms(), 'interruption', '')
for position = 0, tonumber(run_field('total')) - 1 do
  if outcome_of(position) == 'waiting' and not has_begun(position) then
    settle_item(position, 'skipped', '')
  end
end
append_audit_if_any(ARGV[1])
publish_run()
return { 'aborted' }
