'use strict';
// Shows the tally of a run in progress. What it is sent is data: it goes into
// text and numbers only.
(() => {
  const live = document.getElementById('live');
  const at = (id) => document.getElementById(id);
  const svg = 'http://www.w3.org/2000/svg';
  const seconds = 120;

  // rows fills the body of a table; the first cell of a row is its head.
  function rows(body, lines) {
    body.replaceChildren(...lines.map((cells) => {
      const tr = document.createElement('tr');
      cells.forEach((text, i) => {
        const cell = document.createElement(i ? 'td' : 'th');
        if (i) cell.className = 'n';
        cell.textContent = text;
        tr.append(cell);
      });
      return tr;
    }));
  }

  function shape(kind, attributes, text) {
    const e = document.createElementNS(svg, kind);
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    if (text !== undefined) e.textContent = text;
    return e;
  }

  // chart draws a bar for each second, stale reads and bad ends on top, with the
  // faults behind.
  function chart(t) {
    const box = at('chart'), width = box.clientWidth, height = box.clientHeight, foot = 18, head = 14, left = 44;
    const last = t.seconds.length ? t.seconds[t.seconds.length - 1].at : 0;
    const first = Math.max(0, last - seconds + 1), count = Math.max(last + 1, 30) - first;
    const x = (s) => left + (s - first) / count * (width - left - 6);
    const most = Math.max(1, ...t.seconds.map((s) => s.ok + s.other));
    const y = (n) => height - foot - n / most * (height - foot - head);
    const parts = [];
    for (const f of t.faults) {
      const from = Math.max(f.from, first), to = f.to ?? t.time_ms / 1000;
      if (to < first || f.to === null && from > to) continue;
      parts.push(shape('rect', { class: 'bar-fault', x: x(from), width: Math.max(1, x(to) - x(from)), y: 0, height: height - foot }));
      parts.push(shape('text', { x: x(from) + 3, y: 11 }, f.name));
    }
    const wide = Math.max(1, x(first + 1) - x(first) - 1);
    for (const s of t.seconds) {
      if (s.at < first) continue;
      let below = 0;
      for (const [kind, n] of [['ok', s.ok - s.stale], ['stale', s.stale], ['other', s.other]]) {
        if (!n) continue;
        parts.push(shape('rect', { class: 'bar-' + kind, x: x(s.at), width: wide, y: y(below + n), height: y(below) - y(below + n) }));
        below += n;
      }
    }
    parts.push(shape('text', { x: left - 6, y: head + 8, 'text-anchor': 'end' }, most), shape('text', { x: left - 6, y: height - foot, 'text-anchor': 'end' }, 0));
    for (let s = Math.ceil(first / 10) * 10; s < first + count; s += count > 60 ? 20 : 10) parts.push(shape('text', { x: x(s), y: height - 5, 'text-anchor': s === first ? 'start' : 'middle' }, s + ' s'));
    box.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
    box.replaceChildren(...parts);
  }

  function show(t) {
    live.hidden = false;
    at('events').textContent = t.events.toLocaleString('en');
    at('time').textContent = (t.time_ms / 1000).toFixed(1) + ' s';
    const whole = t.seconds.slice(0, -1).slice(-5); // the last second is not over
    at('rate').textContent = whole.length ? Math.round(whole.reduce((n, s) => n + s.ok + s.other, 0) / whole.length) : 0;
    const now = t.faults.filter((f) => f.to === null).map((f) => f.name);
    at('faults').textContent = now.length ? 'fault: ' + now.join(', ') : 'no fault now';
    at('faults').className = now.length ? 'now' : '';
    rows(at('kinds'), t.kinds.map((k) => [k.path ? k.f + ' · ' + k.path : k.f, k.ok, k.fail, k.info, k.pending, k.f === 'read' ? k.stale : '']));
    rows(at('nodes'), t.nodes.map((n) => [n.name, n.reads, n.stale, n.behind]));
    let state = 'Going on.';
    if (t.ended || t.outcome !== 'running') state = 'The clients are done; the verdict is being made.';
    else if (t.quiet > 30) state = 'Nothing was recorded for ' + Math.round(t.quiet) + ' s: it was probably killed. What it recorded can still be checked.';
    at('state').textContent = state + (t.error ? ' Last error: ' + t.error : '');
    chart(t);
    live.dataset.events = t.events;
  }

  const source = new EventSource(live.dataset.source);
  source.addEventListener('tally', (e) => show(JSON.parse(e.data)));
  source.addEventListener('over', () => { source.close(); location.reload(); });
  source.addEventListener('trouble', (e) => { source.close(); at('state').textContent = JSON.parse(e.data); });
  source.onerror = () => { at('state').textContent = 'The server does not answer; trying again.'; };
})();
