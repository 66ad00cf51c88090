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
table{border-collapse:collapse;width:100%}
.matrix,.strays{table-layout:fixed}
.matrix col:nth-child(1){width:42%}.matrix col:nth-child(2){width:28%}.matrix col:nth-child(3){width:16%}
.strays col:nth-child(1){width:10%}.strays col:nth-child(2){width:32%}.strays col:nth-child(3){width:25%}
caption{text-align:left;color:var(--mute);padding:0 0 .4rem}
th,td{border:1px solid var(--line);padding:.35rem .55rem;text-align:left;vertical-align:top;font-weight:400;
overflow-wrap:anywhere}
thead th{background:var(--head);font-weight:600}
.head th{position:sticky;top:0;background:var(--head);border-top:2px solid var(--mute)}
.head small{display:block}
code{font:.9em/1.4 ui-monospace,monospace}
small,.mute{color:var(--mute)}
span.bad,small.bad{color:var(--bad);font-weight:600}
span.good{color:var(--good);font-weight:600}
:target{outline:3px solid var(--good);outline-offset:-3px}
@media (max-width:40rem){main{padding:.75rem}body{font-size:13px}th,td{padding:.25rem .35rem}}
@media print{main{max-width:none;padding:0}tr{break-inside:avoid}.head th{position:static}}
"""
