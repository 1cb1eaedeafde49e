-- How a violation is called: by the service's references, and by the id in its metadata. A reference is the name of one
-- violation at a time (REFERENCES). What the service itself has told, by its answer or by echoing our id, stays where it
-- is; what only people said goes to whom they, or the service, say next.
--
-- Fields: reference the one that is shown · references all of them · told those that the service told; JSON lists
--! include shared/violation.lua

local function list_of(key, name)
  local stored = redis.call('HGET', key, name) or ''
  return stored == '' and {} or cjson.decode(stored)
end

-- To cjson a list without entries would be an object.
local function put_list(key, name, list)
  redis.call('HSET', key, name, #list == 0 and '' or cjson.encode(list))
end

local function is_among(list, wanted)
  for _, entry in ipairs(list) do
    if entry == wanted then
      return true
    end
  end
  return false
end

local function put_among(key, name, entry)
  local list = list_of(key, name)
  if is_among(list, entry) then
    return false
  end
  list[#list + 1] = entry
  put_list(key, name, list)
  return true
end

local function take_from(key, name, unwanted)
  local rest = {}
  for _, entry in ipairs(list_of(key, name)) do
    if entry ~= unwanted then
      rest[#rest + 1] = entry
    end
  end
  put_list(key, name, rest)
  return rest
end

-- The hash of another violation; the key of this one, whose id is given, ends with that.
local function key_of(id, other)
  return string.sub(VIOLATION, 1, #VIOLATION - #id) .. other
end

-- The other violation that has this name, nil when there is none.
local function other_owner(id, reference)
  local owner = redis.call('HGET', REFERENCES, reference)
  if owner and owner ~= id and redis.call('EXISTS', key_of(id, owner)) == 1 then
    return owner
  end
  return nil
end

local function is_told(key, reference)
  return is_among(list_of(key, 'told'), reference)
end

local function raise_other(id, other)
  redis.call('HINCRBY', key_of(id, other), 'version', 1)
  publish('violation.changed', cjson.null, other)
end

-- Takes a name from a violation to which the service never gave it; true when that could be done.
local function take_reference(id, owner, reference)
  local key = key_of(id, owner)
  if is_told(key, reference) then
    return false
  end
  local rest = take_from(key, 'references', reference)
  if redis.call('HGET', key, 'reference') == reference then
    redis.call('HSET', key, 'reference', rest[1] or '')
  end
  redis.call('HDEL', REFERENCES, reference)
  raise_other(id, owner)
  return true
end

-- One more name; true when it is new. `is_told`: the service told it. `is_main`: it is the one to show, unless the service
-- told that one. A name that another violation has stays that one's, unless the service tells it of this one alone.
local function add_reference(id, reference, also)
  local owner = other_owner(id, reference)
  if not owner or (also.is_told and take_reference(id, owner, reference)) then
    redis.call('HSET', REFERENCES, reference, id)
  end
  local is_new = put_among(VIOLATION, 'references', reference)
  local shown = field('reference')
  if shown == '' or (also.is_main and not is_told(VIOLATION, shown)) then
    set_fields({ reference = reference })
  end
  if also.is_told then
    put_among(VIOLATION, 'told', reference)
  end
  return is_new
end
