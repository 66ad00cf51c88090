"""The style and the script of a drawn answer; both stand in the page, and nothing else is loaded."""

STYLE = """
:root { --back: #ffffff; --card: #f6f8fa; --edge: #d0d7de; --text: #1f2328; --mute: #59636e; --line: #8c959f;
  --asked: #0969da; --asked-text: #ffffff; --hot: #bc4c00; --test: #8250df; --hit: #fff8c5; }
@media (prefers-color-scheme: dark) {
  :root { --back: #0d1117; --card: #161b22; --edge: #30363d; --text: #e6edf3; --mute: #9198a1; --line: #6e7681;
    --asked: #1f6feb; --asked-text: #ffffff; --hot: #f0883e; --test: #bc8cff; --hit: #3b2f00; } }
* { box-sizing: border-box; }
html, body { height: 100%; }
body { margin: 0; display: flex; flex-direction: column; background: var(--back); color: var(--text);
  font: 14px/1.45 system-ui, sans-serif; }
header { padding: 12px 16px 10px; border-bottom: 1px solid var(--edge); }
h1 { margin: 0 0 2px; font-size: 18px; overflow-wrap: anywhere; }
header p { margin: 0; color: var(--mute); }
.tools { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-top: 8px; }
input, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--edge);
  border-radius: 6px; padding: 4px 10px; }
input { width: min(360px, 100%); }
button { cursor: pointer; }
.key { color: var(--mute); }
.key b { color: var(--test); font-weight: 600; }
main { flex: 1; min-height: 0; display: flex; }
#view { flex: 1; overflow: auto; }
svg { display: block; font: 13px ui-monospace, Menlo, Consolas, monospace; }
aside { width: 330px; flex: none; overflow: auto; border-left: 1px solid var(--edge); padding: 12px 16px; }
aside h2 { font-size: 15px; margin: 0 0 4px; overflow-wrap: anywhere; }
aside p { margin: 0 0 8px; color: var(--mute); overflow-wrap: anywhere; }
aside ul { margin: 0 0 12px; padding: 0; list-style: none; }
aside li { padding: 3px 0; border-top: 1px solid var(--edge); overflow-wrap: anywhere; }
aside li small { display: block; color: var(--mute); }
.band { fill: var(--mute); font: 600 13px system-ui, sans-serif; }
.card { fill: var(--card); stroke: var(--edge); }
.test .card { stroke: var(--test); stroke-dasharray: 4 3; }
.file { fill: var(--text); font-weight: 600; }
.folder { fill: var(--mute); font-size: 11px; }
.row rect { fill: transparent; }
.row text { fill: var(--text); }
.row { cursor: pointer; outline: none; }
.row:hover rect, .row:focus-visible rect { fill: var(--edge); }
.row.asked rect { fill: var(--asked); }
.row.asked text { fill: var(--asked-text); }
.row.outside text { font-style: italic; }
.arrow { fill: none; stroke: var(--line); stroke-width: 1.2; opacity: .55; }
.many .arrow { opacity: .22; }
.tip { fill: var(--line); }
.on .arrow { opacity: .06; }
.on .row:not(.hot) { opacity: .35; }
#hot .arrow { stroke: var(--hot); stroke-width: 2; opacity: 1; pointer-events: none; }
.row.hot text { font-weight: 700; }
.row.hot:not(.asked) rect { fill: var(--hit); }
.found .row:not(.match) { opacity: .2; }
.row.match:not(.asked) rect { fill: var(--hit); }
@media (max-width: 800px) { main { flex-direction: column; } aside { width: auto; max-height: 40%;
  border-left: 0; border-top: 1px solid var(--edge); } }
"""

SCRIPT = """
(function () {
  var svg = document.querySelector('svg'), hot = document.getElementById('hot');
  var rows = Array.prototype.slice.call(document.querySelectorAll('.row'));
  var arrows = Array.prototype.slice.call(document.querySelectorAll('#arrows .arrow'));
  var byId = {}, out = {}, into = {}, pinned = null, start = document.getElementById('about').innerHTML;
  rows.forEach(function (row) { byId[row.id] = row; out[row.id] = []; into[row.id] = []; });
  arrows.forEach(function (arrow) {
    out[arrow.dataset.a].push(arrow); into[arrow.dataset.b].push(arrow);
  });
  function follow(id, ways, end, found, seen) {
    ways[id].forEach(function (arrow) {
      if (found.indexOf(arrow) < 0) { found.push(arrow); }
      var next = arrow.dataset[end];
      if (!seen[next]) { seen[next] = true; follow(next, ways, end, found, seen); }
    });
    return found;
  }
  function show(id) {
    hot.textContent = '';
    rows.forEach(function (row) { row.classList.remove('hot'); });
    svg.classList.toggle('on', !!id);
    if (!id) { return; }
    var seen = {}; seen[id] = true;
    var found = follow(id, out, 'b', [], seen);
    follow(id, into, 'a', found, seen);
    found.forEach(function (arrow) { hot.appendChild(arrow.cloneNode(true)); });
    Object.keys(seen).forEach(function (one) { byId[one].classList.add('hot'); });
  }
  function list(about, title, found, end) {
    if (!found.length) { return; }
    var head = document.createElement('p'); head.textContent = title + ' ' + found.length; about.appendChild(head);
    var ul = document.createElement('ul'); about.appendChild(ul);
    found.forEach(function (arrow) {
      var li = document.createElement('li'), small = document.createElement('small');
      li.textContent = byId[arrow.dataset[end]].dataset.name;
      small.textContent = arrow.dataset.said; li.appendChild(small); ul.appendChild(li);
    });
  }
  function tell(id) {
    var about = document.getElementById('about');
    if (!id) { about.innerHTML = start; return; }
    about.textContent = '';
    var row = byId[id], head = document.createElement('h2'), where = document.createElement('p');
    head.textContent = row.dataset.name; where.textContent = row.dataset.said;
    about.appendChild(head); about.appendChild(where);
    list(about, 'depends on', out[id], 'b');
    list(about, 'is used by', into[id], 'a');
  }
  function pin(id) { pinned = pinned === id ? null : id; show(pinned); tell(pinned); }
  rows.forEach(function (row) {
    row.addEventListener('mouseenter', function () { if (!pinned) { show(row.id); } });
    row.addEventListener('mouseleave', function () { if (!pinned) { show(null); } });
    row.addEventListener('click', function (event) { event.stopPropagation(); pin(row.id); });
    row.addEventListener('keydown', function (event) {
      if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); pin(row.id); }
    });
  });
  svg.addEventListener('click', function () { if (pinned) { pin(pinned); } });
  var search = document.getElementById('search'), count = document.getElementById('count');
  function matches() { return rows.filter(function (row) { return row.classList.contains('match'); }); }
  search.addEventListener('input', function () {
    var text = search.value.trim().toLowerCase();
    rows.forEach(function (row) {
      var said = (row.dataset.name + ' ' + row.dataset.said).toLowerCase();
      row.classList.toggle('match', !!text && said.indexOf(text) >= 0);
    });
    svg.classList.toggle('found', !!text);
    count.textContent = text ? matches().length + ' of ' + rows.length : '';
  });
  search.addEventListener('keydown', function (event) {
    var first = matches()[0];
    if (event.key === 'Enter' && first) { first.scrollIntoView({ block: 'center', inline: 'center' }); pin(first.id); }
    if (event.key === 'Escape') { search.value = ''; search.dispatchEvent(new Event('input')); }
  });
  var view = document.getElementById('view'), asked = document.querySelector('.row.asked');
  if (asked) {
    var at = asked.getBoundingClientRect(), seen = view.getBoundingClientRect();
    if (at.right > seen.right || at.bottom > seen.bottom) {
      view.scrollLeft += at.left - seen.left - seen.width / 2;
      view.scrollTop += at.top - seen.top - seen.height / 2;
    }
  }
  var zoom = 1, width = svg.viewBox.baseVal.width, height = svg.viewBox.baseVal.height;
  function scale(to) {
    zoom = Math.min(3, Math.max(0.1, to));
    svg.setAttribute('width', Math.round(width * zoom)); svg.setAttribute('height', Math.round(height * zoom));
  }
  document.getElementById('in').addEventListener('click', function () { scale(zoom * 1.25); });
  document.getElementById('out').addEventListener('click', function () { scale(zoom / 1.25); });
  document.getElementById('fit').addEventListener('click', function () {
    scale(zoom === 1 ? Math.min(1, view.clientWidth / width, view.clientHeight / height) : 1);
  });
}());
"""
