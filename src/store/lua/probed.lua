-- Stores what the token call said about an outage that no report could try.
--
-- KEYS    the keys of any tow (see shared/tow.lua)
-- ARGV    1 alive|failing|silent · 2 ms until the next try
-- RETURNS 'over' · 'lasts'
--! include shared/gates.lua

local now = now_ms()
if ARGV[1] == 'alive' then
  end_outage(now)
  return 'over'
end
if gate('outage.until') ~= '' then
  redis.call('HINCRBY', GATES, 'outage.probes', 1)
  close_gate('outage', tonumber(ARGV[2]), now)
end
return 'lasts'
