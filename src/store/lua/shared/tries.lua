-- Who tries a closed gate (gates.lua) next: one at a time, and where a call into it may have worked, never a create.
--! include shared/gates.lua

-- The gate whose next try must be safe to repeat, nil when there is none: an outage, or a connection on which something
-- answers in place of the service.
local function gate_for_safe_tries()
  if gate('outage.until') ~= '' then
    return 'outage'
  end
  return gate('connection.safe_only') == '1' and 'connection' or nil
end

-- How often a gate was tried in vain, by which the wait until the next try of the token call grows.
local function failed_tries(name)
  return number_of(gate(name == 'outage' and 'outage.probes' or 'connection.failures'))
end

-- Another tow whose head is safe to repeat and that did not try this gate last; nil when there is none.
local function other_probe(name, mine, last_probe)
  for _, other in ipairs(redis.call('SRANDMEMBER', PROBES .. ':' .. name, 3)) do
    if other ~= mine and other ~= last_probe then
      return other
    end
  end
end

-- One tries what was closed; should its try get lost, others look after the lease, at a paused operation not before
-- the usual while.
local function begin_try(name, ref, lease_ms, now)
  local is_pause = string.sub(name, 1, 7) == 'paused.'
  close_gate(name, is_pause and PAUSE_PROBE_MS or lease_ms, now)
  set_gate(name .. '.last_probe', ref)
end
