-- Ends an API key, with the text it has and the one it had before a rotation: from now on nobody holds it.
--
-- KEYS    the keys of any tow (see shared/tow.lua), then: api keys by id · api key ids by hash
-- ARGV    1 id · 2 audit entry as JSON
-- RETURNS { 'saved' } · { 'unknown' }
--! include shared/audit.lua

local API_KEYS, API_KEY_HASHES = KEYS[#KEYS - 1], KEYS[#KEYS]
local json = redis.call('HGET', API_KEYS, ARGV[1])
if not json then
  return { 'unknown' }
end
local record = cjson.decode(json)
redis.call('HDEL', API_KEYS, ARGV[1])
redis.call('HDEL', API_KEY_HASHES, record.hash)
if record.previous and record.previous ~= cjson.null then
  redis.call('HDEL', API_KEY_HASHES, record.previous.hash)
end
append_audit(ARGV[2])
return { 'saved' }
