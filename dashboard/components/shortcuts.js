// Keys for the toolbar. Streamlit's own `shortcut=` takes letters and digits only; R, its key for running the page
// again, is left to it. A key does what a click on the control would do.

const CONTROLS = {
  p: ".st-key-pause input",
  "[": ".st-key-window-earlier button",
  "]": ".st-key-window-later button",
  "-": ".st-key-window-wider button",
};
const SEARCH = ".st-key-search input";

// Adding the same function twice adds it once: Streamlit calls this at every run of the page.
export default function () {
  document.addEventListener("keydown", onKey);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.composedPath()[0])) return;
  const control = document.querySelector(event.key === "/" ? SEARCH : CONTROLS[event.key.toLowerCase()] ?? "none");
  if (control === null) return;
  event.preventDefault();
  if (event.key === "/") control.focus();
  else control.click();
}

const isTyping = (target) => target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName ?? "");
