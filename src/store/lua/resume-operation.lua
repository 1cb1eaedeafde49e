-- Ends the pause of a forbidden operation by hand: everything it held is due at once.
--
-- KEYS    the keys of any tow (see shared/tow.lua); IDEMPOTENCY is that of the request
-- ARGV    1 operation · 2 fingerprint of the request to remember under its idempotency key, or '' · 3 audit entry as JSON
-- RETURNS { 'saved' } · { 'unknown' } it is not paused · { 'remembered', fingerprint }
--! include shared/gates.lua
--! include shared/writes.lua
--! include shared/audit.lua

local remembered = remembered_fingerprint(ARGV[2])
if remembered then
  return { 'remembered', remembered }
end
if not resume_operation(ARGV[1], now_ms()) then
  return { 'unknown' }
end
append_audit_if_any(ARGV[3])
remember_effect(ARGV[2])
return { 'saved' }
