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
    const by = dx / (scene.width - scene.gutter) * (scene.to - scene.from);
    show(scene.from - by, scene.to - by);
  };
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
  let moved = 0, spread = 0;
  canvas.addEventListener('pointerdown', (e) => {
    fingers.set(e.pointerId, place(e));
    canvas.setPointerCapture(e.pointerId);
    moved = 0; spread = 0;
  });
  canvas.addEventListener('pointermove', (e) => {
    const at = place(e), was = fingers.get(e.pointerId);
    if (!was) { on.hover(at); return; }
    fingers.set(e.pointerId, at);
    const all = [...fingers.values()];
    if (all.length === 2) {
      const now = Math.max(20, Math.abs(all[0].x - all[1].x));
      if (spread) zoom((all[0].x + all[1].x) / 2, spread / now);
      spread = now;
      moved = 99;
      return;
    }
    moved += Math.abs(at.x - was.x) + Math.abs(at.y - was.y);
    if (moved > 4) { on.leave(); pan(at.x - was.x); }
  });
  const up = (e) => {
    if (fingers.delete(e.pointerId) && moved <= 4 && e.type === 'pointerup') on.click(place(e));
  };
  canvas.addEventListener('pointerup', up);
  canvas.addEventListener('pointercancel', up);
  canvas.addEventListener('pointerleave', () => on.leave());
  canvas.addEventListener('keydown', (e) => {
    const middle = (scene.gutter + scene.width) / 2, step = (scene.width - scene.gutter) / 8;
    const keys = {
      ArrowLeft: () => pan(step), ArrowRight: () => pan(-step),
      '+': () => zoom(middle, 0.6), '=': () => zoom(middle, 0.6), '-': () => zoom(middle, 1 / 0.6), 0: () => show(0, data.end),
    };
    if (keys[e.key] && !e.ctrlKey && !e.metaKey) { e.preventDefault(); keys[e.key](); }
  });
  return { show, zoom: (factor) => zoom((scene.gutter + scene.width) / 2, factor) };
}

// hit finds what is at a point: a read, a run of equal reads, or a state.
function hit(scene, p) {
  const { data } = scene;
  if (p.x < scene.gutter) return rowAt(scene, p);
  const us = scene.time(p.x), near = 7 * (scene.to - scene.from) / (scene.width - scene.gutter);
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
