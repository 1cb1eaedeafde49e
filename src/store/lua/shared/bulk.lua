-- What every script about a bulk run shares. A run is a hash, its items another: `<position>:target`, `:outcome` (absent
-- while it waits), `:words` and `:begun`. Both expire at one instant, which is why no script writes to a run that is not
-- there. The key order is built in src/store/bulk.ts: the keys of any tow, then these.
--! include shared/tow.lua

local RUN, ITEMS, RUNS = KEYS[#KEYS - 2], KEYS[#KEYS - 1], KEYS[#KEYS]

local function run_field(name)
  return redis.call('HGET', RUN, name) or ''
end

local function is_known()
  return redis.call('EXISTS', RUN) == 1
end

local function is_leased()
  return number_of(run_field('lease_until')) > now_ms()
end

-- A run whose process no longer says that it lives is interrupted, whoever is there to write that down.
local function state_of_run()
  local state = run_field('state')
  return (state == 'running' and not is_leased()) and 'interrupted' or state
end

local function lease_for(lease_ms)
  redis.call('HSET', RUN, 'lease_until', string.format('%.0f', now_ms() + lease_ms))
end

local function expire_in(lifetime_ms)
  local at = string.format('%.0f', now_ms() + lifetime_ms)
  redis.call('HSET', RUN, 'expires_at', at)
  redis.call('PEXPIREAT', RUN, at)
  redis.call('PEXPIREAT', ITEMS, at)
end

local function outcome_of(position)
  return redis.call('HGET', ITEMS, position .. ':outcome') or 'waiting'
end

local function has_begun(position)
  return redis.call('HEXISTS', ITEMS, position .. ':begun') == 1
end

-- The last result ends the run.
local function settle_item(position, outcome, words)
  redis.call('HINCRBY', RUN, outcome_of(position), -1)
  redis.call('HINCRBY', RUN, outcome, 1)
  redis.call('HSET', ITEMS, position .. ':outcome', outcome, position .. ':words', words)
  local state = run_field('state')
  if run_field('waiting') == '0' and (state == 'running' or state == 'interrupted') then
    redis.call('HSET', RUN, 'state', 'done', 'ended_at', now_ms(), 'lease_until', 0, 'interruption', '')
  end
end

local function publish_run()
  publish('bulk.changed', cjson.null)
end
