// Follows the job that makes a release, and shows the new one when it is there.

const box = document.getElementById("job");
const status = document.getElementById("job-status");
const bar = document.getElementById("job-progress");

async function follow(address) {
  const before = document.getElementById("release").textContent;
  let failures = 0;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    let job;
    try {
      const response = await fetch(address, { headers: { Accept: "application/json" } });
      if (!response.ok) throw new Error(`status ${response.status}`);
      job = await response.json();
      failures = 0;
    } catch {
      failures += 1;
      status.textContent = "The server does not answer just now; still trying …";
      if (failures > 60) return;
      continue;
    }
    bar.value = job.progress;
    if (job.state === "queued") status.textContent = "Waiting for a worker …";
    if (job.state === "running") status.textContent = "Making a release …";
    if (job.state === "failed") return finish(job.error);
    if (job.state === "done") {
      if (job.result.moved > 0 || !before.startsWith(String(job.result.release))) {
        return location.reload();
      }
      const { waiting, crowd } = job.result;
      return finish(`Nothing new to release: ${waiting} waiting, and a crowd is ${crowd}.`);
    }
  }
}

function finish(text) {
  status.textContent = text;
  bar.hidden = true;
  box.querySelector("button").disabled = false;
}

if (box?.dataset.job) follow(box.dataset.job);
