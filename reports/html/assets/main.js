// The page comes alive: colours, filters, links between anomalies and picture, and
// porcupine's drawings.

const byID = (id) => document.getElementById(id);

// Colours: the system's, until the button says otherwise.
const dark = window.matchMedia('(prefers-color-scheme: dark)');
let chosen = null;
function paint() {
  document.documentElement.classList.toggle('dark', chosen === null ? dark.matches : chosen);
}
paint();

async function start() {
  const holder = byID('data');
  const data = await unpack(holder.textContent);
  holder.remove();
  const canvas = byID('canvas');
  const scene = {
    data, canvas, ctx: canvas.getContext('2d'), states: statesOf(data), from: 0, to: data.end,
    filter: { path: -1, key: -1, node: -1, client: -1 }, selected: null, colors: palette(), leaders: leaderNames(data),
  };
  if (data.paths.length > 1) scene.filter.path = data.paths.indexOf(data.pathOrder[0]);
  fillFilters(scene);
  legend(scene);

  let asked = false;
  const redraw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(scene); mark(scene); });
  };
  const rebuild = () => {
    scene.lanes = buildLanes(data, scene.filter);
    resize(scene);
    redraw();
  };
  const view = attach(scene, { redraw, hover: (p) => hover(scene, p), leave: hide, click: (p) => click(scene, p, pick) });
  const pick = (filter) => {
    Object.assign(scene.filter, filter);
    for (const name of ['path', 'key', 'node', 'client']) byID(name).value = String(scene.filter[name]);
    rebuild();
  };

  for (const name of ['path', 'key', 'node', 'client']) {
    byID(name).addEventListener('change', (e) => pick({ [name]: Number(e.target.value) }));
  }
  byID('zoom-in').addEventListener('click', () => view.zoom(0.6));
  byID('zoom-out').addEventListener('click', () => view.zoom(1 / 0.6));
  byID('reset').addEventListener('click', () => {
    scene.selected = null;
    view.show(0, data.end);
  });
  for (const button of document.querySelectorAll('button.show')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const a = data.anomalies.find((m) => m.id === button.dataset.anomaly);
      scene.selected = a;
      pick({ path: a.path, key: a.key, node: -1, client: -1 });
      const margin = Math.max((a.to - a.from) * 0.25, 2000);
      view.show(a.from - margin, a.to + margin);
      byID('picture').scrollIntoView({ block: 'start' });
      canvas.focus({ preventScroll: true });
    });
  }
  for (const button of document.querySelectorAll('button.porcupine')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const a = data.anomalies.find((m) => m.id === button.dataset.anomaly);
      byID('porcupine').querySelector('iframe').srcdoc = data.drawingHead + data.drawings[a.drawing] + data.drawingTail;
      byID('porcupine').showModal();
    });
  }
  const recolour = () => { paint(); scene.colors = palette(); redraw(); };
  byID('theme').addEventListener('click', () => {
    chosen = chosen === null ? !dark.matches : chosen === dark.matches ? null : dark.matches;
    recolour();
  });
  dark.addEventListener('change', recolour);
  // Paper is white whatever the screen is, as wide as paper is, and nothing can be
  // unfolded on it.
  let folded = [];
  window.addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('details:not([open])')];
    for (const d of folded) d.open = true;
    document.documentElement.classList.remove('dark');
    scene.colors = { ...palette(), paper: '#fff' };
    resize(scene, PAPER, 3);
    draw(scene);
  });
  window.addEventListener('afterprint', () => {
    for (const d of folded) d.open = false;
    resize(scene);
    recolour();
  });
  new ResizeObserver(() => { if (resize(scene)) redraw(); }).observe(byID('frame'));
  byID('tools').hidden = false;
  rebuild();
}

const PAPER = 720; // pixels of CSS between the margins of A4

// resize fits the canvas to its frame and reports whether that changed anything.
function resize(scene, width = byID('frame').clientWidth, ratio = window.devicePixelRatio || 1) {
  const before = scene.canvas.width + 'x' + scene.canvas.height;
  scene.width = width;
  scene.ratio = ratio;
  scene.height = layout(scene);
  scene.canvas.style.height = scene.height + 'px';
  const w = Math.round(width * ratio), h = Math.round(scene.height * ratio);
  if (before === w + 'x' + h) return false;
  scene.canvas.width = w;
  scene.canvas.height = h;
  return true;
}

// mark tells in the page what the picture shows.
function mark(scene) {
  const { lanes, data, canvas } = scene;
  Object.assign(canvas.dataset, { from: scene.from, to: scene.to, lanes: lanes.lanes.length, keys: lanes.keys.length, selected: scene.selected ? scene.selected.id : '' });
  let text = clock(data, scene.from) + ' to ' + clock(data, scene.to);
  if (lanes.keys.length < lanes.allKeys) text += ' · ' + lanes.keys.length + ' of ' + lanes.allKeys + ' keys shown, those with most to see; the others can be picked';
  if (lanes.lanes.length < lanes.allLanes) text += ' · ' + lanes.lanes.length + ' of ' + lanes.allLanes + ' lanes shown, those with most to see';
  if (!lanes.lanes.length) text += ' · no read passes the filter';
  byID('status').textContent = text;
}

function fillFilters(scene) {
  const { data, filter } = scene;
  const fill = (name, all, options) => {
    const select = byID(name);
    const add = (value, text) => {
      const o = element('option', text);
      o.value = String(value);
      select.append(o);
    };
    add(-1, all);
    for (const [value, text] of options) add(value, text);
    select.value = String(filter[name]);
    select.parentElement.hidden = options.length < 2;
  };
  const used = { path: new Set(), node: new Set(), client: new Set(), key: new Set() };
  for (let i = 0; i < data.count; i++) {
    used.key.add(data.key[i]);
    if (data.f[i] !== READ) continue;
    used.path.add(data.path[i]);
    used.node.add(data.node[i]);
    used.client.add(data.process[i]);
  }
  const collator = new Intl.Collator('en', { numeric: true });
  const list = (set, text) => [...set].map((n) => [n, text(n)]).sort((a, b) => collator.compare(a[1], b[1]));
  fill('path', 'all paths', list(used.path, (n) => data.paths[n] || 'unnamed'));
  fill('key', 'all keys', list(used.key, (n) => data.keys[n]));
  fill('node', 'all nodes', list(used.node, (n) => data.nodes[n] || 'not told'));
  fill('client', 'all clients', list(used.client, (n) => String(n)));
}

function leaderNames(data) {
  if (!data.leaders) return [];
  const names = new Set();
  for (const v of data.values) {
    const slash = v.indexOf('/');
    if (slash > 0) names.add(v.slice(0, slash));
  }
  return [...names].sort(new Intl.Collator('en', { numeric: true }).compare);
}

function legend(scene) {
  if (!scene.leaders.length || scene.leaders.length > LEADERS.length) return;
  const item = byID('leader-legend');
  item.hidden = false;
  item.append('believed leader (one key shown):');
  scene.leaders.forEach((name, n) => {
    const swatch = element('i', undefined, 'swatch'), entry = element('span');
    swatch.style.background = LEADERS[n];
    swatch.style.height = '4px';
    entry.append(swatch, name);
    item.append(entry);
  });
}

function tell(scene, found) {
  if (!found) return null;
  if (found.op !== undefined) return storyOf(scene.data, found.op);
  if (found.run !== undefined) return storyOfRun(scene.data, found.lane, found.row, found.run);
  if (found.state !== undefined) return storyOfState(scene.data, found.key, found.states, found.state);
  return null;
}

function hide() { byID('tip').hidden = true; }

function hover(scene, p) {
  const lines = tell(scene, hit(scene, p)), tip = byID('tip');
  if (!lines) { hide(); return; }
  tip.replaceChildren(...lines);
  tip.hidden = false;
  const left = p.x + 16 + tip.offsetWidth < scene.width ? p.x + 16 : p.x - tip.offsetWidth - 16;
  const top = p.y + 16 + tip.offsetHeight < scene.height ? p.y + 16 : p.y - tip.offsetHeight - 12;
  tip.style.left = Math.max(4, left) + 'px';
  tip.style.top = Math.max(2, Math.min(top, scene.height - tip.offsetHeight - 2)) + 'px';
}

// click keeps a story under the picture. A click on a row of several keys shows
// that key alone.
function click(scene, p, pick) {
  const found = hit(scene, p);
  if (!found) return;
  if (scene.lanes.keys.length > 1) pick({ key: found.key });
  const lines = tell(scene, found), story = byID('story');
  story.hidden = !lines;
  if (!lines) return;
  story.replaceChildren(...lines);
  for (const a of found.op === undefined ? [] : scene.data.anomalies.filter((m) => m.operations.includes(found.op))) {
    const link = element('a', 'part of ' + a.id.replace('-', ' ') + ' (' + a.kind + ')');
    link.href = '#' + a.id;
    const line = element('p');
    line.append(link);
    story.append(line);
  }
  story.scrollIntoView({ block: 'nearest' });
}

start().catch((e) => {
  byID('status').textContent = 'The picture could not be drawn: ' + e.message + '. Everything below needs no script; a browser of 2023 or later draws the picture.';
  console.error(e);
});
