// The operations that the page carries, unpacked: a header in JSON and columns of
// numbers read in place. Times are microseconds since the start of the run.

const STALE = 1, BROKEN = 2; // flags
const READ = 0, HAPPENED = 1, FAILED = 2;
const ARRAYS = { u8: Uint8Array, u16: Uint16Array, i32: Int32Array, f64: Float64Array };

async function unpack(text) {
  const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const buffer = await new Response(stream).arrayBuffer();
  const size = new DataView(buffer).getUint32(0, true);
  const data = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  for (const c of data.columns) {
    data[c.name] = new ARRAYS[c.type](buffer, 8 + size + c.offset, c.length);
  }
  let at = 0;
  for (let i = 0; i < data.count; i++) {
    at += data.call[i];
    data.call[i] = at;
  }
  return data;
}

// end gives when an operation returned; an open one at the end of the run.
function end(data, i) {
  return data.took[i] < 0 ? data.end : data.call[i] + data.took[i];
}

// clock writes a time: seconds, or a position where the history has no times.
function clock(data, us, digits) {
  return data.timed ? (us / 1e6).toFixed(digits === undefined ? 3 : digits) + ' s' : 'event ' + Math.round(us / 1000);
}

// lowest gives the first index of a sorted list whose value is not below x.
function lowest(list, x) {
  let a = 0, b = list.length;
  while (a < b) {
    const m = (a + b) >> 1;
    if (list[m] < x) a = m + 1; else b = m;
  }
  return a;
}

// statesOf splits the true order by key.
function statesOf(data) {
  const keys = data.keys.map(() => ({ at: [], value: [], version: [], op: [] }));
  for (let i = 0; i < data.stateKey.length; i++) {
    const k = keys[data.stateKey[i]];
    k.at.push(data.stateAt[i]);
    k.value.push(data.stateValue[i]);
    k.version.push(data.stateVersion[i]);
    k.op.push(data.stateOp[i]);
  }
  return keys;
}
