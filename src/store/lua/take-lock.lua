-- Takes a lock unless somebody holds it. Each taking gets a fencing number of its own, higher than all before it, so that
-- a holder who was frozen until his lock ran out can be told from the one who came after him.
--
-- KEYS    1 lock · 2 fencing number
-- ARGV    1 holder · 2 ms it lasts
-- RETURNS the fencing number, 0 when somebody holds the lock
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('INCR', KEYS[2])
end
return 0
