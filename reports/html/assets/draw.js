// Drawing: the axis, the faults behind, the true order on top, and a lane for
// each node. What is narrower than a pixel is merged, the gravest on top, so that
// a frame costs as much as the picture is wide and not as the run is long.

const AXIS = 24, FAULTS = 20, GAP = 9;
// Room at the right for the marks of what ended with the run.
const EDGE = 9;
// Colours of leaders (Okabe and Ito), on a thin strip under each answer.
const LEADERS = ['#0072b2', '#009e73', '#cc79a7', '#d55e00', '#56b4e9', '#999933', '#7b61c4', '#666666'];
const ON_LAG = '#1d2126'; // words on amber, dark and light

function palette() {
  const s = getComputedStyle(document.documentElement);
  const get = (name) => s.getPropertyValue('--' + name).trim();
  return {
    paper: get('paper'), ink: get('ink'), soft: get('soft'), hair: get('hair'), calm: [get('calm-a'), get('calm-b')],
    lag: get('lag'), divergence: get('divergence'), fault: get('fault'), faultLine: get('fault-line'), sans: get('sans'),
  };
}

// layout gives every lane its place and returns the height of the picture.
function layout(scene) {
  const single = scene.lanes.keys.length === 1;
  scene.gutter = scene.width < 560 ? 66 : 108;
  scene.breadth = scene.width - scene.gutter - EDGE;
  scene.rowHeight = single ? 34 : Math.max(6, Math.min(12, Math.floor(84 / Math.max(1, scene.lanes.keys.length))));
  scene.top = AXIS + (scene.data.faults.length ? FAULTS : 0);
  let y = scene.top + 4;
  const height = scene.rowHeight * scene.lanes.keys.length;
  scene.truthY = y;
  y += height + GAP + 5;
  for (const lane of scene.lanes.lanes) {
    lane.y = y;
    y += height + GAP;
  }
  return Math.max(y, AXIS + 60);
}

function draw(scene) {
  const { ctx, data, colors } = scene;
  ctx.setTransform(scene.ratio, 0, 0, scene.ratio, 0, 0);
  ctx.fillStyle = colors.paper;
  ctx.fillRect(0, 0, scene.width, scene.height);
  ctx.textBaseline = 'middle';
  scene.x = (us) => scene.gutter + (us - scene.from) / (scene.to - scene.from) * scene.breadth;
  scene.time = (x) => scene.from + (x - scene.gutter) / scene.breadth * (scene.to - scene.from);
  scene.until = scene.time(scene.width);
  ctx.save();
  ctx.beginPath();
  ctx.rect(scene.gutter, 0, scene.width - scene.gutter, scene.height);
  ctx.clip();
  drawFaults(scene);
  drawAxis(scene);
  scene.lanes.keys.forEach((key, n) => drawTruth(scene, key, scene.truthY + n * scene.rowHeight));
  ctx.fillStyle = colors.soft;
  ctx.fillRect(scene.gutter, scene.truthY + scene.lanes.keys.length * scene.rowHeight + 6, scene.width, 1);
  for (const lane of scene.lanes.lanes) {
    lane.rows.forEach((row, n) => drawRow(scene, row, lane.y + n * scene.rowHeight));
  }
  for (const lane of scene.lanes.lanes) {
    lane.rows.forEach((row, n) => drawMarks(scene, row, lane.y + n * scene.rowHeight));
  }
  drawSelected(scene);
  ctx.restore();
  drawNames(scene);
}

// ticks gives round times that are some 90 pixels apart, on a phone 60.
function ticks(scene) {
  const unit = scene.data.timed ? 1e6 : 1e3;
  const raw = (scene.to - scene.from) / unit / Math.max(2, scene.breadth / (scene.width < 560 ? 60 : 90));
  const size = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((m) => m * size).find((s) => s >= raw);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const out = [];
  for (let n = Math.ceil(scene.from / unit / step); n * step * unit <= scene.until; n++) {
    out.push([n * step * unit, (n * step).toFixed(digits) + (scene.data.timed ? ' s' : '')]);
  }
  return out;
}

function drawAxis(scene) {
  const { ctx, colors } = scene;
  ctx.font = '11px ' + colors.sans;
  ctx.textAlign = 'left';
  for (const [us, text] of ticks(scene)) {
    const x = Math.round(scene.x(us));
    ctx.fillStyle = colors.hair;
    ctx.fillRect(x, AXIS - 6, 1, 6);
    ctx.fillRect(x, scene.top, 1, scene.height);
    ctx.fillStyle = colors.soft;
    ctx.fillText(text, x + 4, AXIS / 2);
  }
}

// drawFaults shades when some fault was active, once however many there were, and
// the lanes of their targets once more. The strip on top says when each began, and
// which those are whose names have room.
function drawFaults(scene) {
  const { ctx, data, colors } = scene;
  const seen = data.faults.filter((f) => f.to >= scene.from && f.from <= scene.until);
  const shade = (faults, y, h) => {
    ctx.beginPath();
    for (const f of faults) ctx.rect(scene.x(f.from), y, Math.max(scene.x(f.to) - scene.x(f.from), 1.5), h);
    ctx.fillStyle = colors.fault;
    ctx.fill();
  };
  shade(seen, AXIS, scene.height);
  for (const lane of scene.lanes.lanes) {
    shade(seen.filter((f) => lane.node && f.targets && f.targets.includes(lane.node)), lane.y - 4, scene.rowHeight * lane.rows.length + 6);
  }
  ctx.font = '11px ' + colors.sans;
  ctx.textAlign = 'left';
  let room = -1e9;
  for (const f of seen) {
    const x = scene.x(f.from), at = Math.max(x, scene.gutter) + 4;
    const named = at > room, height = named ? FAULTS : 4;
    ctx.fillStyle = colors.faultLine;
    ctx.fillRect(x, AXIS + FAULTS - height, 1, height);
    const text = f.name + (f.targets && f.targets.length ? ' ' + f.targets.join(' ') : '');
    if (named) {
      ctx.fillStyle = colors.soft;
      ctx.fillText(text, at, AXIS + FAULTS / 2 - 2);
      room = at + ctx.measureText(text).width + 10;
    }
  }
}

// leaderOf gives whom an answer names, or nothing.
function leaderOf(scene, text) {
  return scene.data.leaders ? text.slice(0, Math.max(0, text.indexOf('/'))) : '';
}

// label writes an answer into its box where there is room for it, else the leader
// alone, else as much as fits. An epoch is never cut: it would read as another one.
function label(scene, text, x1, x2, y, h, color) {
  const left = Math.max(x1, scene.gutter) + 4, room = Math.min(x2, scene.width) - left - 2;
  if (h < 14 || room < 14) return;
  const { ctx } = scene;
  ctx.font = '11.5px ' + scene.colors.sans;
  ctx.fillStyle = color;
  const leader = leaderOf(scene, text), some = Math.floor(room / 6.5) - 1;
  const t = [text, leader || (some > 1 ? text.slice(0, some) + '…' : '')].find((t) => ctx.measureText(t).width <= room);
  if (t) ctx.fillText(t, left, y + h - 12);
}

function strip(scene, text, x, w, y, h) {
  const leader = leaderOf(scene, text);
  if (!leader || h < 14) return;
  scene.ctx.fillStyle = LEADERS[scene.leaders.indexOf(leader) % LEADERS.length] || LEADERS[7];
  scene.ctx.fillRect(x, y + h - 4, w, 3);
}

function drawTruth(scene, key, y) {
  const { ctx, data, colors } = scene;
  const s = scene.states[key], h = scene.rowHeight - 2;
  let painted = -1;
  for (let n = Math.max(0, lowest(s.at, scene.from) - 1); n < s.at.length && s.at[n] <= scene.until; n++) {
    const x1 = scene.x(s.at[n]), x2 = n + 1 < s.at.length ? scene.x(s.at[n + 1]) : scene.x(data.end);
    if (x2 < painted + 1) continue;
    painted = x2;
    ctx.fillStyle = colors.calm[n & 1];
    ctx.fillRect(x1, y, Math.max(x2 - x1 - (x2 - x1 > 4 ? 1 : 0), 1), h);
    strip(scene, data.values[s.value[n]], x1, Math.max(x2 - x1 - 1, 1), y, h);
    label(scene, data.values[s.value[n]], x1, x2, y, h, colors.ink);
  }
}

// drawRow paints the runs of a row. Runs narrower than a pixel share one.
function drawRow(scene, row, y) {
  const { ctx, data, colors } = scene;
  const h = scene.rowHeight - 2;
  let column = -1, gravest = 0;
  const flush = () => {
    if (column < 0) return;
    ctx.fillStyle = gravest === 2 ? colors.divergence : gravest === 1 ? colors.lag : colors.calm[0];
    ctx.fillRect(column, y, 1, h);
    column = -1;
  };
  for (let n = Math.max(0, lowest(row.start, scene.from) - 1); n < row.start.length && row.start[n] <= scene.until; n++) {
    if (row.stop[n] < scene.from) continue;
    const x1 = scene.x(row.start[n]), x2 = scene.x(row.stop[n]);
    const grave = row.broken[n] >= 0 ? 2 : row.lagFrom[n] >= 0 ? 1 : 0;
    if (x2 - x1 < 1.5) {
      if (Math.floor(x1) !== column) { flush(); gravest = 0; column = Math.floor(x1); }
      gravest = Math.max(gravest, grave);
      continue;
    }
    flush();
    const gap = x2 - x1 > 4 ? 1 : 0;
    ctx.fillStyle = colors.calm[(row.place[n] >= 0 ? row.place[n] : n) & 1];
    const asked = Math.max(scene.x(row.last[n]), x1 + 1.5);
    ctx.fillRect(x1, y, Math.min(asked, x2 - gap) - x1, h);
    if (asked < x2 - gap) {
      ctx.globalAlpha = 0.4;
      ctx.fillRect(asked, y, x2 - gap - asked, h);
      ctx.globalAlpha = 1;
    }
    let lag = null, broken = null;
    if (row.lagFrom[n] >= 0) {
      const a = scene.x(row.lagFrom[n]);
      lag = [a, Math.max(scene.x(row.lagTo[n]) - gap, a + 1.5)];
      ctx.fillStyle = colors.lag;
      ctx.fillRect(a, y, lag[1] - a, h);
    }
    if (row.broken[n] >= 0) {
      const a = scene.x(row.broken[n]);
      broken = [a, Math.max(Math.min(asked, x2 - gap), a + 2)];
      ctx.fillStyle = colors.divergence;
      ctx.fillRect(a, y, broken[1] - a, h);
    }
    strip(scene, data.values[row.value[n]], x1, x2 - x1 - gap, y, h);
    if (h >= 14) labelRun(scene, data.values[row.value[n]], x1, x2, lag, broken, y, h);
  }
  flush();
}

// labelRun writes a run's answer into its widest part of one colour.
function labelRun(scene, text, x1, x2, lag, broken, y, h) {
  const { colors } = scene, edges = [x1, x2];
  for (const x of [...lag || [], ...broken || []]) if (x > x1 && x < x2) edges.push(x);
  edges.sort((a, b) => a - b);
  const room = (n) => Math.min(edges[n + 1], scene.width) - Math.max(edges[n], scene.gutter);
  let best = 0;
  for (let n = 1; n + 1 < edges.length; n++) if (room(n) > room(best)) best = n;
  const within = (part) => part && part[0] <= edges[best] && edges[best] < part[1];
  const ink = within(broken) ? colors.paper : within(lag) ? ON_LAG : colors.ink;
  label(scene, text, edges[best], edges[best + 1], y, h, ink);
}

// drawMarks sets a dot on each stale read and a diamond on each that contradicts
// one order, one a few pixels; all other reads get a tick once there is room.
function drawMarks(scene, row, y) {
  const { ctx, data, colors } = scene;
  const first = Math.max(0, firstOp(data, row, scene.from) - 1);
  const last = Math.min(row.ops.length, firstOp(data, row, scene.until) + 1);
  const tall = scene.rowHeight >= 20;
  const ticked = tall && last - first < scene.width / 5;
  const size = tall ? 4 : 2.6, middle = tall ? y + 7 : y + (scene.rowHeight - 2) / 2;
  let dot = -1e9, diamond = -1e9;
  for (let k = first; k < last; k++) {
    const i = row.ops[k], x = scene.x(end(data, i));
    if (data.flags[i] & BROKEN) {
      if (x - diamond < 5) continue;
      diamond = x;
      ctx.fillStyle = colors.divergence;
      ctx.strokeStyle = colors.paper;
      ctx.lineWidth = 1;
      ctx.beginPath();
      ctx.moveTo(x, middle - size - 1); ctx.lineTo(x + size + 1, middle); ctx.lineTo(x, middle + size + 1); ctx.lineTo(x - size - 1, middle);
      ctx.closePath(); ctx.fill(); ctx.stroke();
    } else if (data.flags[i] & STALE && tall) {
      if (x - dot < 4) continue;
      dot = x;
      ctx.fillStyle = colors.lag;
      ctx.strokeStyle = colors.ink;
      ctx.lineWidth = 0.8;
      ctx.beginPath(); ctx.arc(x, middle, size - 1, 0, 7); ctx.fill(); ctx.stroke();
    } else if (ticked) {
      ctx.fillStyle = colors.soft;
      ctx.fillRect(x, y, 1, 4);
    }
  }
}

// drawSelected rings the operations of the anomaly that was asked for.
function drawSelected(scene) {
  const { ctx, data, colors } = scene;
  if (!scene.selected) return;
  ctx.strokeStyle = colors.ink;
  ctx.lineWidth = 2;
  const ring = (x, y) => { ctx.beginPath(); ctx.arc(x, y, 8, 0, 7); ctx.stroke(); };
  for (const i of scene.selected.operations) {
    const n = scene.lanes.keys.indexOf(data.key[i]);
    if (n < 0) continue;
    const middle = n * scene.rowHeight + (scene.rowHeight - 2) / 2;
    if (data.f[i] !== READ) { ring(scene.x(end(data, i)), scene.truthY + middle); continue; }
    for (const lane of scene.lanes.lanes) {
      const row = lane.rows[n];
      for (let k = firstOp(data, row, data.call[i]); k < row.ops.length && data.call[row.ops[k]] === data.call[i]; k++) {
        if (row.ops[k] === i) ring(scene.x(end(data, i)), lane.y + middle);
      }
    }
  }
}

function drawNames(scene) {
  const { ctx, data, colors } = scene;
  const name = (text, y, weight) => {
    ctx.font = weight + ' 12px ' + colors.sans;
    ctx.fillStyle = colors.ink;
    let t = text;
    while (t.length > 1 && ctx.measureText(t).width > scene.gutter - 14) t = t.slice(0, -1);
    ctx.fillText(t === text ? t : t.slice(0, -1) + '…', 8, y);
  };
  ctx.textAlign = 'left';
  const half = scene.rowHeight * scene.lanes.keys.length / 2;
  name(scene.gutter < 90 ? 'truth' : 'true order', scene.truthY + half, '600');
  for (const lane of scene.lanes.lanes) name(lane.name, lane.y + half, '400');
  if (data.faults.length) {
    ctx.font = '11px ' + colors.sans;
    ctx.fillStyle = colors.soft;
    ctx.fillText('faults', 8, AXIS + FAULTS / 2 - 2);
  }
}
