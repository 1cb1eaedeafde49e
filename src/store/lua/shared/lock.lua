-- A lock is a string: the id of its owner, with an expiry. A process that dies loses the lock when it expires.

local function acquire_lock(key, owner, ttl_ms)
  if redis.call('PTTL', key) > tonumber(ttl_ms) then
    -- The clock of Redis was ahead when it was acquired.
    redis.call('PEXPIRE', key, ttl_ms)
  end
  return redis.call('SET', key, owner, 'NX', 'PX', ttl_ms) and true or false
end

local function owns_lock(key, owner)
  return redis.call('GET', key) == owner
end
