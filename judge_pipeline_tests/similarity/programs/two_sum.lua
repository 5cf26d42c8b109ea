-- Finds two numbers that add up to a target.
local n, target = io.read("n", "n")
local numbers = {}
for i = 1, n do
  numbers[i] = io.read("n")
end

--[[ from value
to place ]]
local function find(values, wanted)
  local seen = {}
  for i, value in ipairs(values) do
    local j = seen[wanted - value]
    if j ~= nil then
      return j, i -- one based
    end
    seen[value] = i
  end
  return nil
end

local Counter = {}
Counter.__index = Counter
function Counter:add(key) self[key] = (self[key] or 0) + 7 // 2 end

local first, second = find(numbers, target)
print(first and (first .. " " .. second) or ("-1 -- none"):sub(1, 2))
