-- Acquires, renews or releases a lock.
--
-- KEYS    1 lock · 2 fencing number, for `acquire` only, optional
-- ARGV    1 acquire|renew|release · 2 owner · 3 lifetime of the lock from now, ms (not for `release`)
-- RETURNS acquire: 0 when another owner has the lock, else the fencing number: higher than all before it, 1 without KEYS[2]
--         renew, release: 1 when done, 0 when the owner does not have the lock
--! include shared/lock.lua
local lock, operation, owner = KEYS[1], ARGV[1], ARGV[2]
if operation == 'acquire' then
  if not acquire_lock(lock, owner, ARGV[3]) then
    return 0
  end
  return KEYS[2] and redis.call('INCR', KEYS[2]) or 1
end
if not owns_lock(lock, owner) then
  return 0
end
return operation == 'renew' and redis.call('PEXPIRE', lock, ARGV[3]) or redis.call('DEL', lock)
