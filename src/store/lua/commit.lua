-- Writes commits, each completely or not at all. A commit is written if every record has the version that the decision was
-- made on, and every check holds. Only this script changes records, but for deliveries and proofs of tows (accept.lua), and
-- for the budget states in the record of the circuits (observe-limit.lua, return-permit.lua, shared/rate-limit.lua).
--
-- KEYS    every key of the commits; a commit refers to a key by its number
-- ARGV    1 commits as JSON: [{
--           records: [{ key, expected: version, '' = absent, version: new version, set: [field, value, …],
--             remove: [field, …], gone: true deletes the record,
--             not_before, not_after: earliest and latest time of the commit, Unix ms }],
--           checks: [[key, field, value, '' = absent]],
--           effects: [[command, key, argument, …]] }]
-- RETURNS { now in Unix ms, reply per commit: 'done' · 'stale' · 'early' · 'error <message>' }
--
-- A commit that is repeated because its reply was lost finds its own version, and is 'done'. One that only deletes records
-- is 'stale'. One that changes no record has its effects again, unless a check fails by then.
--! include shared/now.lua

local COMMANDS = {
  ZADD = true, ZREM = true, ZINCRBY = true, SADD = true, SREM = true, HSET = true, HDEL = true, HINCRBY = true,
  SET = true, DEL = true, EXPIRE = true, ZREMRANGEBYSCORE = true, XADD = true, XTRIM = true,
}
local AUDIT_START = string.rep('0', 40)

local now = now_ms()
local now_text = string.format('%.0f', now)

-- Appends an entry `<seq> <at, Unix ms> <hash> <digest> <json>`, a line feed and its texts to the audit. The digest is the
-- SHA-1 of the texts, and the hash that of the hash of the entry before, seq, at, digest and JSON, each followed by a line
-- feed: what is changed or missing is noticed, and texts may be removed.
local function append_audit(key, json, texts)
  local last = redis.call('LINDEX', key, -1)
  local seq, hash = 0, AUDIT_START
  if last then
    local last_seq, last_hash = string.match(last, '^(%d+) %d+ (%x+) ')
    -- After a line that was changed manually, verification reports the break; new lines are still appended.
    seq, hash = tonumber(last_seq) or redis.call('LLEN', key), last_hash or AUDIT_START
  end
  local head = string.format('%.0f', seq + 1)
  local digest = redis.sha1hex(texts)
  local link = redis.sha1hex(table.concat({ hash, head, now_text, digest, json, '' }, '\n'))
  redis.call('RPUSH', key, table.concat({ head, now_text, link, digest, json }, ' ') .. '\n' .. texts)
end

-- Returns the reply when the commit must not be written, else nil.
local function refusal_of(commit)
  for _, record in ipairs(commit.records) do
    local version = redis.call('HGET', KEYS[record.key], 'v') or ''
    if version ~= record.expected then
      return version ~= '' and version == record.version and 'done' or 'stale'
    end
    if record.not_before and now < record.not_before then
      return 'early'
    end
    if record.not_after and now > record.not_after then
      return 'stale'
    end
  end
  for _, check in ipairs(commit.checks) do
    local value = redis.call('HGET', KEYS[check[1]], check[2]) or ''
    if value ~= check[3] then
      return 'stale'
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
      append_audit(key, effect[3], effect[4])
    elseif COMMANDS[command] then
      redis.call(command, key, unpack(effect, 3))
    else
      error('no such effect: ' .. command)
    end
  end
end

-- True for errors by which Redis takes no writes at all, such as OOM or READONLY: the whole call fails then. Any other error
-- belongs to its commit. A call is only repeated as a whole, so it must not fail after one of its commits was written.
-- Redis 6.2 writes these errors as '@user_script: 62: -READONLY …'.
local function refuses_all(problem)
  local code = string.match(problem, '^(%u+) ') or string.match(problem, '^@user_script: ?%d+: %-(%u+) ')
  return code and code ~= 'ERR' and code ~= 'WRONGTYPE'
end

local replies = { now_text }
local has_written = false
for _, commit in ipairs(cjson.decode(ARGV[1])) do
  local reply = refusal_of(commit)
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
