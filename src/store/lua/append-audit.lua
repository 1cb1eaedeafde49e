-- Appends an entry to the audit for an act whose effect is written elsewhere, and remembers the request.
--
-- KEYS    the keys of any tow (see shared/tow.lua); IDEMPOTENCY is that of the request
-- ARGV    1 audit entry as JSON · 2 fingerprint of the request to remember under its idempotency key, or ''
-- RETURNS { 'saved' } · { 'remembered', fingerprint }
--! include shared/writes.lua
--! include shared/audit.lua

local remembered = remembered_fingerprint(ARGV[2])
if remembered then
  return { 'remembered', remembered }
end
append_audit(ARGV[1])
remember_effect(ARGV[2])
return { 'saved' }
