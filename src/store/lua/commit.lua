-- The script that changes records; besides it, accept.lua stores deliveries and marks tows as proved. Writes a list of
-- commits, each all or nothing: a commit is written if every record still has the version it was decided on, and every
-- check holds.
--
-- KEYS    every key that the commits name, in any order; a commit names them by their place
-- ARGV    1 the commits as JSON: [{
--           records: [{ key, expected: version or '' for absent, version: the new one, set: [field, value, …], remove: [field, …],
--             gone: true when the record is deleted, not_before: ms, the commit is too early before that moment }],
--           checks: [[key, field, value or '' for absent, what to answer when it does not hold]],
--           effects: [[command, key, argument, …]] }]
-- RETURNS { now ms, reply of each commit: 'done' · 'stale' · 'early' · 'failed <what> <value>' · 'error <message>' }
--
-- A commit that is repeated because its reply was lost is done already: its version is there.

local COMMANDS = {
  ZADD = true, ZREM = true, ZINCRBY = true, SADD = true, SREM = true, HSET = true, HDEL = true, HINCRBY = true, RPUSH = true,
  SET = true, DEL = true, EXPIRE = true, PUBLISH = true, ZREMRANGEBYSCORE = true,
}
local AUDIT_START = string.rep('0', 40)

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local now_text = string.format('%.0f', now)

-- Appends to the record of what people did: a line `<seq> <at ms> <hash> <json>`, its hash the SHA-1 of the hash before it,
-- seq, moment and JSON, each followed by a line feed, so that none can be changed or left out unnoticed.
local function append_audit(key, json)
  local last = redis.call('LINDEX', key, -1)
  local seq, hash = 0, AUDIT_START
  if last then
    local last_seq, last_hash = string.match(last, '^(%d+) %d+ (%x+) ')
    -- Behind a line that was changed by hand the chain is broken for a reader; work goes on.
    seq, hash = tonumber(last_seq) or redis.call('LLEN', key), last_hash or AUDIT_START
  end
  local head = string.format('%.0f', seq + 1)
  local link = redis.sha1hex(table.concat({ hash, head, now_text, json, '' }, '\n'))
  redis.call('RPUSH', key, table.concat({ head, now_text, link, json }, ' '))
end

local function why_not(commit)
  for _, record in ipairs(commit.records) do
    local version = redis.call('HGET', KEYS[record.key], 'v') or ''
    if version ~= record.expected then
      return version ~= '' and version == record.version and 'done' or 'stale'
    end
    if record.not_before and now < record.not_before then
      return 'early'
    end
  end
  for _, check in ipairs(commit.checks) do
    local value = redis.call('HGET', KEYS[check[1]], check[2]) or ''
    if value ~= check[3] then
      return 'failed ' .. check[4] .. ' ' .. value
    end
  end
end

local function write(commit)
  for _, record in ipairs(commit.records) do
    local key = KEYS[record.key]
    if record.gone then
      redis.call('DEL', key)
    elseif record.version then
      redis.call('HSET', key, 'v', record.version, unpack(record.set))
      if #record.remove > 0 then
        redis.call('HDEL', key, unpack(record.remove))
      end
    end
  end
  for _, effect in ipairs(commit.effects) do
    local command, key = effect[1], KEYS[effect[2]]
    if command == 'AUDIT' then
      append_audit(key, effect[3])
    elseif COMMANDS[command] then
      redis.call(command, key, unpack(effect, 3))
    else
      error('no such effect: ' .. command)
    end
  end
end

-- Whether Redis takes no writes at all, such as OOM or READONLY, so that the whole call fails; any other problem is one of its
-- commit. The commits of a call are never repeated alone: one that deleted a record would not find it again.
local function refuses_all(problem)
  local code = string.match(problem, '^(%u+) ')
  return code and code ~= 'ERR' and code ~= 'WRONGTYPE'
end

local replies = { now_text }
local has_written = false
for _, commit in ipairs(cjson.decode(ARGV[1])) do
  local reply = why_not(commit)
  if not reply then
    local is_done, problem = pcall(write, commit)
    problem = type(problem) == 'table' and problem.err or problem
    if not is_done and not has_written and refuses_all(problem) then
      return redis.error_reply(problem)
    end
    has_written = true
    reply = is_done and 'done' or 'error ' .. problem
  end
  replies[#replies + 1] = reply
end
return replies
