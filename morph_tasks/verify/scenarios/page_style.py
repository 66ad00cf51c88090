"""How the page of a trace looks, by day, by night and on paper."""

STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--mute:#57606a;--paper:#fff;--line:#d0d7de;--head:#f3f5f7;
--bad:#a40e26;--badpaper:#fff4f4;--good:#116329}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--mute:#9da7b1;--paper:#0d1117;--line:#3a434d;--head:#1a2129;
--bad:#ff8f88;--badpaper:#2b1618;--good:#6fdd8b}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
main{max-width:90rem;margin:0 auto;padding:1.5rem}
h1{font-size:1.6rem;margin:0 0 .25rem}
h2{font-size:1.1rem;margin:0 0 .5rem}
.sum{font-size:1.05rem;margin:0 0 .75rem}
.origin{display:flex;flex-wrap:wrap;gap:.1rem .5rem;margin:0 0 1.25rem;color:var(--mute)}
.origin dd{margin:0 1rem 0 0}
section{margin:1.5rem 0}
section.bad{border-left:4px solid var(--bad);background:var(--badpaper);padding:.75rem 1rem;color:var(--ink)}
section.bad ul{margin:0;padding-left:1.2rem}
a{color:inherit}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
caption{text-align:left;color:var(--mute);padding:0 0 .4rem}
th,td{border:1px solid var(--line);padding:.35rem .55rem;text-align:left;vertical-align:top;font-weight:400;
overflow-wrap:anywhere}
thead th{background:var(--head);font-weight:600;white-space:nowrap}
tbody th{min-width:12rem}
td{min-width:5rem}
code{font:.9em/1.4 ui-monospace,monospace}
small,.mute{color:var(--mute)}
span.bad,small.bad{color:var(--bad);font-weight:600}
span.good{color:var(--good);font-weight:600}
:target{outline:3px solid var(--good);outline-offset:-3px}
@media print{.wide{overflow:visible}main{max-width:none;padding:0}tr{break-inside:avoid}}
"""
