-- Stores a new API key, of which only the hash is known here. Among the keys that live its name is its own.
--
-- KEYS    the keys of any tow (see shared/tow.lua), then: api keys by id · api key ids by hash
-- ARGV    1 id · 2 hash · 3 record as JSON · 4 fingerprint of the request to remember, or ''
--         5 its answer, without the key itself · 6 audit entry as JSON
-- RETURNS { 'saved' } · { 'name_taken' } · { 'remembered', fingerprint }
--! include shared/writes.lua
--! include shared/audit.lua

local API_KEYS, API_KEY_HASHES = KEYS[#KEYS - 1], KEYS[#KEYS]
local remembered = remembered_fingerprint(ARGV[4])
if remembered then
  return { 'remembered', remembered }
end
local name = cjson.decode(ARGV[3]).name
for _, json in ipairs(redis.call('HVALS', API_KEYS)) do
  if cjson.decode(json).name == name then
    return { 'name_taken' }
  end
end
redis.call('HSET', API_KEYS, ARGV[1], ARGV[3])
redis.call('HSET', API_KEY_HASHES, ARGV[2], ARGV[1])
append_audit(ARGV[6])
remember_effect(ARGV[4])
if ARGV[4] ~= '' then
  redis.call('HSET', IDEMPOTENCY, 'answer', ARGV[5])
end
return { 'saved' }
