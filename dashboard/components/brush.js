// The strip under the toolbar: total lag over the window, gaps as gaps, findings as ticks. A drag chooses a window.
//
// Streamlit calls the function below again for the same element whenever there are new data. News that come during a
// drag wait until it ends, so that what is chosen is what was seen.

const SHORTEST_DRAG_PX = 6;
const TICK_PX = { 1: 5, 2: 8, 3: 12, 4: 16 }; // by severity

export default function ({ data, parentElement, setTriggerValue }) {
  const strip = (parentElement.strip ??= mounted(parentElement));
  strip.choose = (from_ms, to_ms) => setTriggerValue("window", [from_ms, to_ms]);
  strip.news = data;
  if (strip.drag === null) showNews(strip);
}

function mounted(root) {
  const [canvas, from, middle, to] = ["canvas", ".from", ".middle", ".to"].map((name) => root.querySelector(name));
  const strip = { canvas, from, middle, to, drag: null, left: 0, data: null, news: null, choose: null };
  canvas.addEventListener("pointerdown", (event) => begin(strip, event));
  canvas.addEventListener("pointermove", (event) => follow(strip, event));
  canvas.addEventListener("pointerup", () => end(strip));
  canvas.addEventListener("pointercancel", () => giveUp(strip));
  new ResizeObserver(() => draw(strip)).observe(canvas);
  return strip;
}

function showNews(strip) {
  strip.data = strip.news;
  draw(strip);
}

function begin(strip, event) {
  if (event.button !== 0) return;
  strip.canvas.setPointerCapture(event.pointerId);
  strip.drag = [event.offsetX, event.offsetX];
  strip.left = event.clientX - event.offsetX;
}

function follow(strip, event) {
  if (strip.drag === null) return;
  // Where the hand has moved, even where the page has moved under it: a style that comes late shifts the strip.
  strip.drag[1] = Math.min(strip.canvas.clientWidth, Math.max(0, event.clientX - strip.left));
  draw(strip);
}

function end(strip) {
  if (strip.drag === null) return;
  const [left, right] = edges(strip);
  if (right - left >= SHORTEST_DRAG_PX) strip.choose(momentAt(strip, left), momentAt(strip, right));
  giveUp(strip);
}

function giveUp(strip) {
  strip.drag = null;
  showNews(strip);
}

const edges = (strip) => [Math.min(...strip.drag), Math.max(...strip.drag)];
const momentAt = ({ canvas, data }, x) => data.from_ms + ((data.to_ms - data.from_ms) * x) / canvas.clientWidth;
const placeOf = ({ canvas, data }, ms) => ((ms - data.from_ms) / (data.to_ms - data.from_ms)) * canvas.clientWidth;

function draw(strip) {
  const { canvas, data } = strip;
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(canvas.clientWidth * scale);
  canvas.height = Math.round(canvas.clientHeight * scale);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  drawLag(strip, pen);
  drawTicks(strip, pen);
  if (strip.drag !== null) drawDrag(strip, pen);
  drawWords(strip, data);
}

function drawLag(strip, pen) {
  const { canvas, data } = strip;
  const bottom = canvas.clientHeight - 1;
  const top = Math.max(1, ...data.lag.filter((lag) => lag !== null));
  pen.strokeStyle = pen.fillStyle = colour(canvas, "--st-primary-color");
  pen.lineWidth = 1.5;
  for (const run of runs(data.lag)) {
    const points = run.map((number) => [
      placeOf(strip, data.first_ms + number * data.step_ms),
      bottom - (data.lag[number] / top) * (bottom - 4),
    ]);
    drawRun(pen, points, bottom);
  }
}

// A stretch without a gap: a line over its area; a lone value is a dot.
function drawRun(pen, points, bottom) {
  if (points.length === 1) {
    pen.fillRect(points[0][0] - 1, points[0][1] - 1, 3, 3);
    return;
  }
  pen.beginPath();
  points.forEach(([x, y]) => pen.lineTo(x, y));
  pen.stroke();
  pen.lineTo(points.at(-1)[0], bottom);
  pen.lineTo(points[0][0], bottom);
  pen.globalAlpha = 0.15;
  pen.fill();
  pen.globalAlpha = 1;
}

// The numbers of known values, in stretches that follow one another.
function runs(values) {
  const found = [];
  values.forEach((value, number) => {
    if (value === null) return;
    if (number > 0 && values[number - 1] !== null) found.at(-1).push(number);
    else found.push([number]);
  });
  return found;
}

function drawTicks(strip, pen) {
  const { canvas, data } = strip;
  for (const [ms, severity] of data.findings) {
    pen.fillStyle = colour(canvas, severity >= 3 ? "--st-red-color" : "--st-orange-color");
    pen.fillRect(Math.round(placeOf(strip, ms)) - 1, canvas.clientHeight - TICK_PX[severity], 2, TICK_PX[severity]);
  }
}

function drawDrag(strip, pen) {
  const [left, right] = edges(strip);
  pen.fillStyle = pen.strokeStyle = colour(strip.canvas, "--st-text-color");
  pen.globalAlpha = 0.12;
  pen.fillRect(left, 0, right - left, strip.canvas.clientHeight);
  pen.globalAlpha = 1;
  pen.lineWidth = 1;
  pen.strokeRect(left + 0.5, 0.5, Math.max(0, right - left - 1), strip.canvas.clientHeight - 1);
}

// The ends of the window, or of what is being chosen.
function drawWords(strip, data) {
  const ends = strip.drag === null ? [data.from_ms, data.to_ms] : edges(strip).map((x) => momentAt(strip, x));
  const [from, to] = ends.map((ms) => new Date(ms).toISOString());
  const begins = from.slice(0, 10) === to.slice(0, 10) ? 11 : 0;
  strip.from.textContent = `${clock(from, 0)} UTC`;
  strip.to.textContent = `${clock(to, begins)} UTC`;
  strip.middle.textContent = strip.drag === null ? data.caption : "release to show this window";
}

const clock = (iso, begins) => iso.slice(begins, 19).replace("T", " ");
const colour = (canvas, name) => getComputedStyle(canvas).getPropertyValue(name);
