// Follows the job that makes a release, and shows a new release when there is one.

const POLL = 500; // milliseconds between two looks at a job
const LOOK = 10_000; // and between two looks for a release that nobody here asked for

const box = document.getElementById("job");
const status = document.getElementById("job-status");
const bar = document.getElementById("job-progress");

const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

async function get(address) {
  const response = await fetch(address, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

async function followJob() {
  for (let failures = 0; failures < 60; await pause(POLL)) {
    try {
      const job = await get(box.dataset.job);
      failures = 0;
      bar.value = job.progress;
      if (job.state === "queued") status.textContent = "Waiting for a worker …";
      if (job.state === "running") status.textContent = "Making a release …";
      if (job.state === "failed") return finish(`The release failed. ${job.error}`);
      if (job.state === "done") return conclude(job.result);
    } catch {
      failures += 1;
      status.textContent = "The server does not answer just now; still trying …";
    }
  }
}

function conclude({ release, moved, waiting, crowd }) {
  if (release !== null && String(release) !== box.dataset.release) return location.reload();
  const nothing = `Nothing new to release: ${waiting} waiting, and a crowd is ${crowd}.`;
  finish(moved ? `Release ${release} is out, with ${moved} new reports.` : nothing);
  watch();
}

function finish(text) {
  status.textContent = text;
  bar.hidden = true;
  const button = box.querySelector("button");
  if (button) button.disabled = false;
}

async function watch() {
  for (;;) {
    await pause(LOOK);
    if (document.hidden) continue;
    try {
      const releases = await get(box.dataset.releases);
      const last = releases.at(-1)?.release ?? 0;
      if (String(last) !== box.dataset.release) return location.reload();
    } catch {
      // the next look may succeed
    }
  }
}

if (box?.dataset.job) followJob();
else if (box) watch();
