-- Adds what a process has seen of the service to what is stored: one JSON for all processes.
--
-- KEYS    1 what was seen, as JSON
-- ARGV    1 what this process has seen since its last call: { messages: { name: { samples, fields: { name: count } } },
--           calls: { operation: { statuses: { status: count }, steps: { step: count } } } }
--         2 how many fields of a message are kept · 3 how many slots of calls are kept · 4 length of a slot, ms
-- RETURNS now in Unix ms
--! include shared/now.lua
local now = now_ms()
local stored = redis.call('GET', KEYS[1])
local all = stored and cjson.decode(stored) or { messages = {}, calls = {} }
local seen = cjson.decode(ARGV[1])

local function add(counts, more)
  for name, by in pairs(more) do
    counts[name] = (counts[name] or 0) + by
  end
end

for name, more in pairs(seen.messages) do
  local message = all.messages[name] or { samples = 0, first = now, fields = {} }
  all.messages[name] = message
  message.samples, message.last = message.samples + more.samples, now
  local known = 0
  for _ in pairs(message.fields) do
    known = known + 1
  end
  for field, count in pairs(more.fields) do
    local entry = message.fields[field]
    if not entry and known < tonumber(ARGV[2]) then
      known = known + 1
      entry = { count = 0, first = now }
      message.fields[field] = entry
    end
    if entry then
      entry.count, entry.last = entry.count + count, now
    end
  end
end

local slot = math.floor(now / tonumber(ARGV[4]))
for operation, more in pairs(seen.calls) do
  local slots = all.calls[operation] or {}
  all.calls[operation] = slots
  local current = string.format('%.0f', slot)
  slots[current] = slots[current] or { statuses = {}, steps = {} }
  add(slots[current].statuses, more.statuses)
  add(slots[current].steps, more.steps)
end
for _, slots in pairs(all.calls) do
  for name in pairs(slots) do
    if tonumber(name) <= slot - tonumber(ARGV[3]) then
      slots[name] = nil
    end
  end
end

redis.call('SET', KEYS[1], cjson.encode(all))
return string.format('%.0f', now)
