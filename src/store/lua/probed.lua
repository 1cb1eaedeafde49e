-- Stores what the token call said about an outage, or about a connection on which something answered in place of the
-- service, that no report may try.
--
-- KEYS    the keys of any tow (see shared/tow.lua)
-- ARGV    1 alive|failing|silent · 2 ms until the next try
-- RETURNS 'over' · 'lasts'
--! include shared/gates.lua

local now, delay_ms = now_ms(), tonumber(ARGV[2])
local is_replaced = gate('connection.safe_only') == '1'
if ARGV[1] == 'alive' then
  end_outage(now)
  if is_replaced then
    -- The token call may reach the service where other calls do not: one call of any kind tries now, the others wait.
    redis.call('HDEL', GATES, 'connection.safe_only')
    close_gate('connection', 0, now)
  end
  return 'over'
end
if gate('outage.until') ~= '' then
  redis.call('HINCRBY', GATES, 'outage.probes', 1)
  close_gate('outage', delay_ms, now)
end
if is_replaced then
  redis.call('HINCRBY', GATES, 'connection.failures', 1)
  close_gate('connection', delay_ms, now)
end
return 'lasts'
