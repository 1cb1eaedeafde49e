-- Adds what a receiver answered within about a second.
--
-- KEYS 1 answers: hash of path → document, `minute` → last minute with an accepted webhook
--      2 accepted webhooks: hash of hour since the epoch → number of minutes in which one was accepted
-- ARGV 1 hours that are kept · then per path: path · 'accepted' if a call was accepted, else ''
--      refused calls after the last accepted one, by reason, as JSON · seconds that a timestamp was behind, or ''
--      'proxied' or ''
--! include shared/now.lua
local ANSWERS, HOURS = KEYS[1], KEYS[2]
local kept_hours = tonumber(ARGV[1])
local FIELDS = 5

local now = now_ms()

-- Several accepted webhooks of one minute count once.
local function count_minute()
  local minute = math.floor(now / 60000)
  if tonumber(redis.call('HGET', ANSWERS, 'minute')) == minute then
    return
  end
  redis.call('HSET', ANSWERS, 'minute', string.format('%.0f', minute))
  local hour = math.floor(now / 3600000)
  if redis.call('HINCRBY', HOURS, string.format('%.0f', hour), 1) == 1 then
    for _, field in ipairs(redis.call('HKEYS', HOURS)) do
      if tonumber(field) <= hour - kept_hours then
        redis.call('HDEL', HOURS, field)
      end
    end
  end
end

-- Refused calls belong together until one is accepted, or until a day passes without one. Those on other paths belong
-- together until a webhook is accepted.
local DAY_MS = 86400000
local function is_over(path, document)
  if document.refused_at == nil or now - document.refused_at > DAY_MS then
    return true
  end
  if path ~= 'other' then
    return false
  end
  for _, webhook in ipairs(redis.call('HMGET', ANSWERS, 'tow_request', 'tow_invoice')) do
    local accepted_at = webhook and cjson.decode(webhook).accepted_at
    if accepted_at and accepted_at >= document.refused_at then
      return true
    end
  end
  return false
end

for at = 2, #ARGV, FIELDS do
  local path, accepted, refused, behind, proxied = unpack(ARGV, at, at + FIELDS - 1)
  local stored = redis.call('HGET', ANSWERS, path)
  local document = stored and cjson.decode(stored) or { refused = {} }
  if accepted ~= '' then
    document = { accepted_at = now, refused = {} }
    if path ~= 'other' then
      count_minute()
    end
  end
  if refused ~= '{}' and is_over(path, document) then
    document = { accepted_at = document.accepted_at, refused = {} }
  end
  for reason, count in pairs(cjson.decode(refused)) do
    document.refused[reason] = (document.refused[reason] or 0) + count
    document.refused_since = document.refused_since or now
    document.refused_at = now
    document.proxied = proxied ~= ''
  end
  if behind ~= '' then
    document.behind_seconds = tonumber(behind)
  end
  redis.call('HSET', ANSWERS, path, cjson.encode(document))
end
