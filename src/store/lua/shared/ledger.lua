-- The ledger names everything that was acknowledged or recorded, so that a walk over it can ask of each whether it is
-- still somewhere (walk-ledger.lua). Only retirement takes a name out, together with its record.
--! include shared/tow.lua

local function enter_delivery(id, now)
  redis.call('ZADD', LEDGER, 'NX', now, 'delivery\n' .. id)
end

local function enter_report(ref, seq, now)
  redis.call('ZADD', LEDGER, 'NX', now, 'report\n' .. ref .. '\n' .. seq)
end

local function enter_violation(id, now)
  redis.call('ZADD', LEDGER, 'NX', now, 'violation\n' .. id)
end

local function strike_delivery(id)
  redis.call('ZREM', LEDGER, 'delivery\n' .. id)
end

local function strike_reports(ref, tail)
  for seq = 1, tail do
    redis.call('ZREM', LEDGER, 'report\n' .. ref .. '\n' .. seq)
  end
end

local function strike_violation(id)
  redis.call('ZREM', LEDGER, 'violation\n' .. id)
end
