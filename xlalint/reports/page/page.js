"use strict";
(() => {
  const findings = [...document.querySelectorAll(".finding")];
  const form = document.querySelector(".filters");
  if (!form) return;
  const search = document.getElementById("search");
  const selects = [...form.querySelectorAll("select")];
  const bars = [...document.querySelectorAll(".panel button")];
  const unfold = document.getElementById("unfold");
  const texts = new Map(findings.map((one) => [one, one.textContent.toLowerCase() + " " +
    one.closest(".file").querySelector("h2").textContent.toLowerCase()]));
  const total = findings.length;

  // A group that findings have no part in is the empty text, which is not the same as no choice.
  const chosen = () => selects
    .filter((one) => !one.selectedOptions[0].hasAttribute("data-all"))
    .map((one) => [one.dataset.group, one.selectedOptions[0].dataset.value]);

  function show() {
    const wanted = chosen();
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const one of findings) {
      const fits = wanted.every(([group, value]) => one.dataset[group] === value)
        && words.every((word) => texts.get(one).includes(word));
      one.hidden = !fits;
      shown += fits;
    }
    for (const file of document.querySelectorAll(".file")) {
      const here = file.querySelectorAll(".finding:not([hidden])").length;
      file.hidden = here === 0;
      file.querySelector(".count").textContent = here;
    }
    for (const bar of bars) {
      const pressed = wanted.some(([group, value]) => group === bar.dataset.group && value === bar.dataset.value);
      bar.setAttribute("aria-pressed", String(pressed));
    }
    const all = total === 1 ? "1 finding" : `${total} findings`;
    document.getElementById("shown").textContent = shown === total ? all : `${shown} of ${all}`;
    document.getElementById("none").hidden = shown > 0;
    const kept = new URLSearchParams(wanted);
    if (search.value) kept.set("q", search.value);
    history.replaceState(null, "", kept.size ? `#?${kept}` : location.pathname + location.search);
  }

  function choose(select, value) {
    const options = [...select.options];
    const index = options.findIndex((one) => !one.hasAttribute("data-all") && one.dataset.value === value);
    select.selectedIndex = Math.max(index, 0);
  }

  function restore() {
    if (location.hash.startsWith("#?")) {
      const kept = new URLSearchParams(location.hash.slice(2));
      for (const select of selects) if (kept.has(select.dataset.group)) choose(select, kept.get(select.dataset.group));
      search.value = kept.get("q") ?? "";
      show();
    } else {
      reveal();
    }
  }

  // A link to a finding or a rule opens it.
  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const details = target.matches("details") ? target : target.querySelector("details");
    if (details) details.open = true;
    target.scrollIntoView();
  }

  function open(all) {
    for (const one of findings) if (!one.hidden) one.querySelector("details").open = all;
    unfold.setAttribute("aria-pressed", String(all));
    unfold.textContent = all ? "Close all" : "Open all";
  }

  function step(by) {
    const visible = findings.filter((one) => !one.hidden);
    if (!visible.length) return;
    const at = visible.indexOf(document.activeElement.closest?.(".finding"));
    const next = visible[at < 0 ? (by > 0 ? 0 : visible.length - 1) : Math.min(Math.max(at + by, 0), visible.length - 1)];
    next.querySelector("summary").focus();
    next.scrollIntoView({ block: "nearest" });
  }

  const keys = {
    "/": () => search.focus(),
    j: () => step(1),
    k: () => step(-1),
    e: () => open(unfold.getAttribute("aria-pressed") !== "true"),
    Escape: () => form.reset(),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea") && event.key !== "Escape";
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  for (const bar of bars) {
    bar.addEventListener("click", () => {
      const select = selects.find((one) => one.dataset.group === bar.dataset.group);
      if (bar.getAttribute("aria-pressed") === "true") select.selectedIndex = 0;
      else choose(select, bar.dataset.value);
      show();
    });
  }
  unfold.addEventListener("click", () => open(unfold.getAttribute("aria-pressed") !== "true"));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", show);
  form.addEventListener("reset", () => setTimeout(show));
  addEventListener("hashchange", reveal);
  restore();
})();
