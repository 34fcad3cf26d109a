-- What wrk sends: well-formed reports with fresh ids, one or many in a body.
-- CANDOR_DESIGN is the hash of the design, CANDOR_MANY how many reports a body has (0: just one),
-- CANDOR_PAUSE how many milliseconds a connection waits before a request, on average.

local design = os.getenv("CANDOR_DESIGN")
local many = tonumber(os.getenv("CANDOR_MANY"))
local pause = tonumber(os.getenv("CANDOR_PAUSE"))
local random, format = math.random, string.format

-- Version 4: four times 28 to 32 random bits, the rest as the version asks.
local function id()
  return format("%08x-%04x-4%03x-a%03x-%06x%06x", random(0, 0x7fffffff), random(0, 0xffff),
    random(0, 0xfff), random(0, 0xfff), random(0, 0xffffff), random(0, 0xffffff))
end

local function report()
  return format('{"id":"%s","design":"%s","blocks":{"b1":[%d,%d,0,1,0,1,0,1,0,1]}}',
    id(), design, random(0, 1), random(0, 1))
end

local threads = 0
function setup(thread)
  threads = threads + 1
  thread:set("seed", os.time() * 1000 + threads)
end

function init()
  math.randomseed(seed)
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  if many == 0 then return wrk.format(nil, nil, nil, report()) end
  local reports = {}
  for i = 1, many do reports[i] = report() end
  return wrk.format(nil, nil, nil, '{"reports":[' .. table.concat(reports, ",") .. ']}')
end

if pause > 0 then
  function delay() return random(0, 2 * pause) end
end

-- One line that bench/ingest.py reads: requests, microseconds, errors, p50 and p99.
function done(summary, latency)
  local errors = summary.errors
  io.write(format("RESULT %d %d %d %d %d\n", summary.requests, summary.duration,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
