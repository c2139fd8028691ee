// Lanes: what each node showed of each key over time. A row of a lane is one
// key; its runs are stretches over which the node gave one answer: from the first
// such read (start) over the last one (last) to the next that differs (stop).

const MOST_ROWS = 12, MOST_LANES = 30;

// buildLanes arranges the reads that pass the filter. Filter: path, node, client
// and key, each a number or -1 for all.
function buildLanes(data, filter) {
  const lanes = new Map();
  const weight = new Float64Array(data.keys.length); // what makes a key worth showing
  const used = new Uint8Array(data.keys.length);
  for (let i = 0; i < data.count; i++) {
    if (filter.client >= 0 && data.process[i] !== filter.client) continue;
    if (data.outcome[i] === FAILED) continue;
    used[data.key[i]] = 1;
    weight[data.key[i]] += (data.flags[i] & BROKEN ? 1e6 : data.flags[i] & STALE ? 1e3 : 1);
  }
  let keys = [];
  for (let k = 0; k < data.keys.length; k++) if (used[k] && (filter.key < 0 || filter.key === k)) keys.push(k);
  const allKeys = keys.length;
  if (keys.length > MOST_ROWS) {
    keys = keys.sort((a, b) => weight[b] - weight[a]).slice(0, MOST_ROWS).sort((a, b) => a - b);
  }
  const rowOf = new Int32Array(data.keys.length).fill(-1);
  keys.forEach((k, n) => { rowOf[k] = n; });

  for (let i = 0; i < data.count; i++) {
    if (data.f[i] !== READ || data.outcome[i] !== HAPPENED || rowOf[data.key[i]] < 0) continue;
    if (filter.path >= 0 && data.path[i] !== filter.path) continue;
    if (filter.node >= 0 && data.node[i] !== filter.node) continue;
    if (filter.client >= 0 && data.process[i] !== filter.client) continue;
    const id = data.node[i] > 0 ? data.node[i] * 65536 + (filter.path < 0 ? data.path[i] : 0) : -1 - data.process[i];
    let lane = lanes.get(id);
    if (!lane) {
      lane = newLane(data, i, filter, keys);
      lanes.set(id, lane);
    }
    extend(data, lane.rows[rowOf[data.key[i]]], i);
    lane.weight += (data.flags[i] & BROKEN ? 1e6 : data.flags[i] & STALE ? 1e3 : 1);
  }
  let list = [...lanes.values()];
  const allLanes = list.length;
  if (list.length > MOST_LANES) list = list.sort((a, b) => b.weight - a.weight).slice(0, MOST_LANES);
  const collator = new Intl.Collator('en', { numeric: true });
  list.sort((a, b) => collator.compare(a.name, b.name));
  for (const lane of list) for (const row of lane.rows) finish(row);
  return { keys, allKeys, lanes: list, allLanes };
}

function newLane(data, i, filter, keys) {
  let name = data.node[i] > 0 ? data.nodes[data.node[i]] : 'client ' + data.process[i];
  const node = data.node[i] > 0 ? name : '';
  if (filter.path < 0 && data.paths.length > 1 && data.paths[data.path[i]]) name += ' ' + data.paths[data.path[i]];
  const rows = keys.map((key) => ({
    key, ops: [], start: [], last: [], stop: [], value: [], place: [], lagFrom: [], lagTo: [], broken: [],
  }));
  return { name, node, rows, weight: 0 };
}

// extend adds a read to its row: to the last run where it gave the same answer,
// else as a new one.
function extend(data, row, i) {
  const at = end(data, i);
  row.ops.push(i);
  let n = row.start.length - 1;
  if (n < 0 || row.value[n] !== data.result[i] || row.place[n] !== data.place[i]) {
    if (n >= 0) row.stop[n] = Math.max(at, row.start[n]);
    n++;
    row.start.push(at); row.last.push(at); row.stop.push(at);
    row.value.push(data.result[i]); row.place.push(data.place[i]);
    row.lagFrom.push(-1); row.lagTo.push(-1); row.broken.push(-1);
  }
  row.last[n] = row.stop[n] = Math.max(row.stop[n], at);
  if (data.flags[i] & STALE) {
    const since = data.lag[i] >= 0 ? data.call[i] - data.lag[i] : at;
    const from = Math.max(row.start[n], since);
    row.lagFrom[n] = row.lagFrom[n] < 0 ? from : Math.min(row.lagFrom[n], from);
    row.lagTo[n] = at;
  }
  if (data.flags[i] & BROKEN && row.broken[n] < 0) row.broken[n] = at;
}

// finish makes what is searched often into typed arrays.
function finish(row) {
  row.start = Float64Array.from(row.start);
  row.stop = Float64Array.from(row.stop);
  row.ops = Int32Array.from(row.ops);
}

// firstOp gives the position in a row of the first read called at a time or later.
function firstOp(data, row, us) {
  let a = 0, b = row.ops.length;
  while (a < b) {
    const m = (a + b) >> 1;
    if (data.call[row.ops[m]] < us) a = m + 1; else b = m;
  }
  return a;
}
