// Stories: what there is to say of an operation or of a stretch. All texts that
// come from the history go into text nodes, never into markup.

function element(tag, text, name) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (name) e.className = name;
  return e;
}

function deed(data, i) {
  const f = data.functions[data.f[i]] || '?';
  const key = data.keys[data.key[i]];
  let text = f + (key ? ' ' + key : '');
  const value = (n) => data.values[n];
  if (f === 'read' || f === 'dequeue') {
    if (data.outcome[i] === HAPPENED) text += ' → ' + value(data.result[i]);
  } else if (f === 'cas') {
    text += ' ' + value(data.argument[i]) + ' → ' + value(data.result[i]);
  } else {
    text += ' ' + value(data.argument[i]);
  }
  if (data.outcome[i] === FAILED) text += ' (failed)';
  if (data.outcome[i] === 0) text += ' (outcome unknown)';
  return text;
}

function milliseconds(us) {
  const ms = us / 1000;
  return (ms >= 100 ? ms.toFixed(0) : ms >= 1 ? ms.toFixed(1) : ms.toFixed(3)) + ' ms';
}

function plural(n, word) { return n + ' ' + word + (n === 1 ? '' : 's'); }

// storyOf tells all of an operation.
function storyOf(data, i) {
  const out = [element('p')];
  out[0].append(element('b', deed(data, i)));
  let who = 'client ' + data.process[i];
  if (data.node[i] > 0) who += ' through ' + data.nodes[data.node[i]];
  if (data.paths[data.path[i]]) who += ', path ' + data.paths[data.path[i]];
  if (data.version[i] !== -1) who += ', version ' + data.version[i];
  out.push(element('p', who));
  let span = 'called ' + clock(data, data.call[i], 6);
  if (data.took[i] < 0) span += ', never returned';
  else span += ', returned ' + clock(data, end(data, i), 6) + (data.timed ? ' (' + milliseconds(data.took[i]) + ')' : '');
  out.push(element('p', span + ', event ' + data.index[i]));
  if (data.flags[i] & STALE) {
    let text = 'Stale';
    const m = data.missed[i];
    if (m >= 0) {
      const f = data.functions[data.f[m]];
      text += ': ' + data.values[f === 'read' || f === 'cas' ? data.result[m] : data.argument[m]] +
        (f === 'read' ? ' had been read by client ' : ' had been acknowledged to client ') + data.process[m];
    }
    if (data.lag[i] >= 0) text += ' ' + milliseconds(data.lag[i]) + ' earlier';
    text += '; ' + plural(data.behind[i], 'version') + ' behind';
    out.push(element('p', text, 'lag'));
  }
  if (data.broken[i]) out.push(element('p', 'Contradicts one order: ' + data.broken[i], 'divergence'));
  const active = data.faults.filter((f) => f.from <= end(data, i) && f.to >= data.call[i]);
  if (active.length) out.push(element('p', 'Fault then: ' + active.map((f) => f.text).join('; ')));
  return out;
}

// storyOfRun tells of a stretch over which a lane gave one answer.
function storyOfRun(data, lane, row, n) {
  const p = element('p');
  p.append(element('b', lane.name + ' showed ' + (data.keys[row.key] ? data.keys[row.key] + ' = ' : '') + data.values[row.value[n]]));
  const out = [p, element('p', 'from ' + clock(data, row.start[n]) + ' to ' + clock(data, row.stop[n]))];
  if (row.lagFrom[n] >= 0) out.push(element('p', 'Behind from ' + clock(data, row.lagFrom[n]) + ' to ' + clock(data, row.lagTo[n]), 'lag'));
  if (row.broken[n] >= 0) out.push(element('p', 'Contradicts one order from ' + clock(data, row.broken[n]) + ' on', 'divergence'));
  return out;
}

// storyOfState tells of a state in the true order.
function storyOfState(data, key, states, n) {
  const p = element('p');
  p.append(element('b', 'In truth ' + (data.keys[key] ? data.keys[key] + ' = ' : '') + data.values[states.value[n]]));
  const until = n + 1 < states.at.length ? clock(data, states.at[n + 1]) : 'the end';
  const out = [p, element('p', 'known from ' + clock(data, states.at[n]) + ' to ' + until +
    (states.version[n] !== -1 ? ', version ' + states.version[n] : '') + ', state ' + n + ' of ' + (states.at.length - 1))];
  if (states.op[n] >= 0) out.push(...storyOf(data, states.op[n]).slice(1, 3));
  return out;
}
