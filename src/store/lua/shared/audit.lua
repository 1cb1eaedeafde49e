-- The record of what people did: append-only, each entry chained to the one before by a hash, so that none can be changed
-- or left out unnoticed. One entry is a line `<seq> <at ms> <hash> <json>`; its hash is the SHA-1 (the only one Redis
-- offers to scripts) of the hash before it, seq, moment and JSON, each followed by a line feed.
--! include shared/tow.lua

local AUDIT_START = string.rep('0', 40)

local function append_audit(json)
  local last = redis.call('LINDEX', AUDIT, -1)
  local seq, hash = 0, AUDIT_START
  if last then
    local last_seq, last_hash = string.match(last, '^(%d+) %d+ (%x+) ')
    -- Behind a line that a foreign hand spoiled the chain is broken for whoever checks it; people go on all the same.
    seq, hash = tonumber(last_seq) or redis.call('LLEN', AUDIT), last_hash or AUDIT_START
  end
  local head = string.format('%.0f', seq + 1)
  local at = string.format('%.0f', now_ms())
  local link = redis.sha1hex(table.concat({ hash, head, at, json, '' }, '\n'))
  redis.call('RPUSH', AUDIT, table.concat({ head, at, link, json }, ' '))
end

-- '' stands for an act that needs no entry of its own.
local function append_audit_if_any(json)
  if json and json ~= '' then
    append_audit(json)
  end
end
