-- Gives an API key another text, of which only the hash is known here. The text before stays valid for a while; one that
-- was still valid from an earlier rotation ends at once.
--
-- KEYS    the keys of any tow (see shared/tow.lua), then: api keys by id · api key ids by hash
-- ARGV    1 id · 2 hash of the new text · 3 how long the text before stays valid, ms
--         4 fingerprint of the request to remember under its idempotency key, or '' · 5 audit entry as JSON
-- RETURNS { 'saved' } · { 'unknown' } · { 'remembered', fingerprint }
--! include shared/writes.lua
--! include shared/audit.lua

local API_KEYS, API_KEY_HASHES = KEYS[#KEYS - 1], KEYS[#KEYS]
local remembered = remembered_fingerprint(ARGV[4])
if remembered then
  return { 'remembered', remembered }
end
local json = redis.call('HGET', API_KEYS, ARGV[1])
if not json then
  return { 'unknown' }
end
local record = cjson.decode(json)
if record.previous and record.previous ~= cjson.null then
  redis.call('HDEL', API_KEY_HASHES, record.previous.hash)
end
local grace_ms = tonumber(ARGV[3])
if grace_ms > 0 then
  record.previous = { hash = record.hash, validUntilMs = now_ms() + grace_ms }
else
  redis.call('HDEL', API_KEY_HASHES, record.hash)
  record.previous = cjson.null
end
record.hash = ARGV[2]
redis.call('HSET', API_KEYS, ARGV[1], cjson.encode(record))
redis.call('HSET', API_KEY_HASHES, ARGV[2], ARGV[1])
append_audit(ARGV[5])
remember_effect(ARGV[4])
return { 'saved' }
