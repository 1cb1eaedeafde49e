-- Finds the API key whose text has this hash: the current text, or the text before a rotation, within its grace time.
--
-- KEYS    1 api keys by id · 2 api key ids by hash
-- ARGV    1 hash
-- RETURNS the record as JSON, or nil
--! include shared/now.lua
local id = redis.call('HGET', KEYS[2], ARGV[1])
local json = id and redis.call('HGET', KEYS[1], id)
if not json then
  return nil
end
local record = cjson.decode(json)
if record.hash == ARGV[1] then
  return json
end
local now = now_ms()
local previous = record.previous
if previous and previous ~= cjson.null and previous.hash == ARGV[1] and now < previous.validUntilMs then
  return json
end
return nil
