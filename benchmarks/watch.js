// What a person waits for, told by the page itself: looking at it from outside takes the processor it needs.
// All times are performance.now(), ms.
const act = (window.act = {
  begun: 0, // the newest press or key; of a page that is opened, its address
  drawn: 0, // what changed last was on the screen
  expected: null, // [selector, words] of the answer that is waited for
  answered: null, // it was on the screen
  heard: null, // the newest word of the server since then
  state: () => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState,
  // The run that the act began is over, and for so long nothing was heard and nothing has changed any more.
  isOver: (quiet) => act.heard !== null && act.state() === "notRunning" && performance.now() - Math.max(act.heard, act.drawn) > quiet,
});

function begin(event) {
  Object.assign(act, { begun: event.timeStamp, drawn: 0, answered: null, heard: null });
}
addEventListener("pointerup", begin, true);
addEventListener("keydown", (event) => event.key === "Enter" && begin(event), true);

window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", () => (act.heard = performance.now()));
  }
};

const isAnswered = ([selector, words]) => document.querySelector(selector)?.textContent.includes(words);

// A grid tells assistive technology its rows 200 ms after it drew them.
const isSeen = ({ target }) => !(target.closest ? target : target.parentElement)?.closest("canvas");

new MutationObserver((changes) => {
  if (!changes.some(isSeen)) return;
  const answers = act.expected !== null && act.answered === null && act.heard !== null && isAnswered(act.expected);
  if (answers) act.answered = Infinity;
  requestAnimationFrame(() => setTimeout(() => {
    act.drawn = performance.now();
    if (answers) act.answered = act.drawn;
  }));
}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });

// Long tasks: the main thread was busy for more than 50 ms and answered nobody.
window.longTasks = [];
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.longTasks.push(one.duration);
}).observe({ type: "longtask", buffered: true });
