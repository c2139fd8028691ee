// Moving about: zoom by wheel, pinch, buttons and keys, pan by dragging, hover and
// click for stories. The wheel zooms only once the picture has been clicked, or
// with Ctrl held, so that it does not get in the way of reading the page.

function attach(scene, on) {
  const canvas = scene.canvas, data = scene.data;
  const shortest = () => Math.max(20, data.end / 1e6);
  const show = (from, to) => {
    const span = Math.min(Math.max(to - from, shortest()), data.end);
    from = Math.min(Math.max(from, 0), data.end - span);
    scene.from = from;
    scene.to = from + span;
    on.redraw();
  };
  const zoom = (x, factor) => {
    const at = scene.time(x);
    const span = Math.min(Math.max((scene.to - scene.from) * factor, shortest()), data.end);
    const share = (at - scene.from) / (scene.to - scene.from);
    show(at - span * share, at - span * share + span);
  };
  const pan = (dx) => {
    const by = dx / scene.breadth * (scene.to - scene.from);
    show(scene.from - by, scene.to - by);
  };
  const middle = () => scene.gutter + scene.breadth / 2;
  const place = (e) => {
    const box = canvas.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  };

  canvas.addEventListener('wheel', (e) => {
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) { e.preventDefault(); pan(-e.deltaX); return; }
    if (!e.ctrlKey && !e.metaKey && document.activeElement !== canvas) return;
    e.preventDefault();
    zoom(place(e).x, Math.exp(Math.max(-80, Math.min(80, e.deltaY)) * 0.004));
  }, { passive: false });

  const fingers = new Map();
  let moved = 0, pinch = null;
  // grip gives the middle of two fingers and how far apart they are.
  const grip = () => {
    const [a, b] = fingers.values();
    return { x: (a.x + b.x) / 2, spread: Math.max(20, Math.hypot(a.x - b.x, a.y - b.y)) };
  };
  canvas.addEventListener('pointerdown', (e) => {
    fingers.set(e.pointerId, place(e));
    canvas.setPointerCapture(e.pointerId);
    moved = 0;
    if (fingers.size > 1) pinch = grip();
  });
  canvas.addEventListener('pointermove', (e) => {
    const at = place(e), was = fingers.get(e.pointerId);
    if (!was) { on.hover(at); return; }
    fingers.set(e.pointerId, at);
    if (fingers.size > 1) {
      // What lies between two fingers stays there, however they are turned.
      const now = grip();
      pan(now.x - pinch.x);
      zoom(now.x, pinch.spread / now.spread);
      pinch = now;
      moved = 99;
      return;
    }
    moved += Math.abs(at.x - was.x) + Math.abs(at.y - was.y);
    if (moved > 4) { on.leave(); pan(at.x - was.x); }
  });
  const up = (e) => {
    const was = fingers.delete(e.pointerId);
    if (fingers.size > 1) pinch = grip();
    if (was && moved <= 4 && e.type === 'pointerup') on.click(place(e));
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('pointerleave', () => on.leave());
  canvas.addEventListener('keydown', (e) => {
    const step = scene.breadth / 8;
    const keys = {
      ArrowLeft: () => pan(step), ArrowRight: () => pan(-step),
      '+': () => zoom(middle(), 0.6), '=': () => zoom(middle(), 0.6), '-': () => zoom(middle(), 1 / 0.6), 0: () => show(0, data.end),
    };
    if (keys[e.key] && !e.ctrlKey && !e.metaKey) { e.preventDefault(); keys[e.key](); }
  });
  return { show, zoom: (factor) => zoom(middle(), factor) };
}

// hit finds what is at a point: a read, a run of equal reads, or a state.
function hit(scene, p) {
  const { data } = scene;
  if (p.x < scene.gutter) return rowAt(scene, p);
  const us = scene.time(p.x), near = 7 * (scene.to - scene.from) / scene.breadth;
  const found = rowAt(scene, p);
  if (!found) return null;
  if (found.truth) {
    const states = scene.states[found.key];
    const n = lowest(states.at, us + 1e-9) - 1;
    return n < 0 ? null : { ...found, states, state: n };
  }
  const row = found.row;
  let best = -1, distance = near;
  for (let k = Math.max(0, firstOp(data, row, us - near - 5e6)), last = row.ops.length; k < last && data.call[row.ops[k]] < us + near; k++) {
    const d = Math.abs(end(data, row.ops[k]) - us) / (data.flags[row.ops[k]] ? 2 : 1);
    if (d < distance) { best = row.ops[k]; distance = d; }
  }
  if (best >= 0) return { ...found, op: best };
  const n = lowest(row.start, us + 1e-9) - 1;
  return n >= 0 && row.stop[n] >= us ? { ...found, run: n } : { ...found };
}

function rowAt(scene, p) {
  const row = (top) => Math.floor((p.y - top) / scene.rowHeight);
  const inside = (n) => n >= 0 && n < scene.lanes.keys.length;
  const t = row(scene.truthY);
  if (inside(t)) return { truth: true, key: scene.lanes.keys[t] };
  for (const lane of scene.lanes.lanes) {
    const n = row(lane.y);
    if (inside(n)) return { lane, row: lane.rows[n], key: scene.lanes.keys[n] };
  }
  return null;
}
