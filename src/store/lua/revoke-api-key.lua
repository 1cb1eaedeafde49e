-- Ends an API key: from now on nobody holds it.
--
-- KEYS    the keys of any tow (see shared/tow.lua), then: api keys by id · api key ids by hash
-- ARGV    1 id · 2 audit entry as JSON
-- RETURNS { 'saved' } · { 'unknown' }
--! include shared/audit.lua

local API_KEYS, API_KEY_HASHES = KEYS[#KEYS - 1], KEYS[#KEYS]
local record = redis.call('HGET', API_KEYS, ARGV[1])
if not record then
  return { 'unknown' }
end
redis.call('HDEL', API_KEYS, ARGV[1])
redis.call('HDEL', API_KEY_HASHES, cjson.decode(record).hash)
append_audit(ARGV[2])
return { 'saved' }
