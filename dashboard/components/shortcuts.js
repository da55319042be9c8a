// Keys for the toolbar. Streamlit's own `shortcut=` takes letters and digits only; R, its key for running the page
// again, is left to it. A key does what a click on the control would do.

const CONTROLS = {
  P: ".st-key-pause input",
  "/": ".st-key-search input",
  "[": ".st-key-window-earlier button",
  "]": ".st-key-window-later button",
  "-": ".st-key-window-wider button",
};

// Adding the same function twice adds it once: Streamlit calls this at every run of the page.
export default function () {
  document.addEventListener("keydown", onKey);
  for (const [key, control] of Object.entries(CONTROLS)) {
    document.querySelector(control)?.setAttribute("aria-keyshortcuts", key);
  }
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.composedPath()[0])) return;
  const control = document.querySelector(CONTROLS[event.key.toUpperCase()] ?? "none");
  if (control === null) return;
  event.preventDefault();
  if (event.key === "/") control.focus();
  else control.click();
}

const isTyping = (target) => target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName ?? "");
