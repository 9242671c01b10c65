"use strict";
// Filters the table of calls by name and by outcome. What is asked is part of the address: `index.html?name=tf.image&show=no`.
addEventListener("DOMContentLoaded", () => {
  const table = document.getElementById("calls");
  if (!table) return;
  const asked = document.getElementById("calls-name");
  const shown = document.getElementById("calls-show");
  const device = document.getElementById("calls-device");
  const count = document.getElementById("calls-count");
  const rows = [...table.tBodies[0].rows].map((row) => ({
    row,
    text: `${row.cells[0].textContent} ${row.dataset.also || ""}`.toLowerCase(),
    outcomes: { cpu: row.cells[2].className, gpu: row.cells[3].className, tpu: row.cells[4].className,
      gradient: row.cells[5].className, jax: row.cells[6].className },
  }));
  const apply = () => {
    const words = asked.value.toLowerCase().split(/\s+/).filter(Boolean);
    let number = 0;
    for (const { row, text, outcomes } of rows) {
      const fits = words.every((word) => text.includes(word))
        && (shown.value === "" || outcomes[device.value] === shown.value);
      row.hidden = !fits;
      number += fits;
    }
    count.textContent = `${number} of ${rows.length} shown`;
  };
  const given = new URLSearchParams(location.search);
  asked.value = given.get("name") || "";
  shown.value = given.get("show") || "";
  device.value = given.get("on") || "cpu";
  const changed = () => {
    const query = new URLSearchParams();
    if (asked.value) query.set("name", asked.value);
    if (shown.value) { query.set("show", shown.value); query.set("on", device.value); }
    history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
    apply();
  };
  for (const control of [asked, shown, device]) control.addEventListener("input", changed);
  apply();
});
