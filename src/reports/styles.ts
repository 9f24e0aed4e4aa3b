/** Stylesheet of the report page. Text contrast is at least 4.5:1 (WCAG AA). */
export const STYLES = `
:root {
  color-scheme: light dark; --paper: #fff; --title: #0f3452; --note: #7a4300; --note-tint: #fdf3e3; --ink: #16212b; --soft: #4c5a67; --line: #d5dde4; --edge: #7a8894; --ground: #eef2f5;
  --brand: #17456b; --tint: #e8f0f6; --wrong: #a3171f; --wrong-tint: #fdeceb;
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 8px 24px; max-width: 820px; margin: 0 auto; padding: 24px 16px 8px; }
.service { display: flex; align-items: center; gap: 10px; font-weight: 600; color: var(--title); }
.who { display: flex; align-items: center; gap: 12px; min-width: 0; font-size: 14px; color: var(--soft); overflow-wrap: anywhere; text-align: right; }
.out { flex: none; margin: 0; }
button { min-height: 40px; padding: 4px 14px; font: inherit; color: var(--brand); background: var(--paper); border: 1px solid var(--edge); border-radius: 8px; cursor: pointer; }
button:hover { background: var(--tint); }
:focus-visible { outline: 3px solid #2f7fc1; outline-offset: 2px; }
a { color: var(--brand); }
main { max-width: 820px; margin: 0 auto; padding: 8px 16px 64px; }
article { background: var(--paper); border: 1px solid var(--line); border-radius: 14px; padding: 32px; }
h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 1.4em 0 .4em; }
h1 { margin: 0 0 16px; font-size: 30px; letter-spacing: -0.01em; }
h2 { font-size: 23px; } h3 { font-size: 20px; } h4 { font-size: 18px; } h5, h6 { font-size: 16px; }
p { margin: 0 0 16px; }
h1, h2, h3, h4, h5, h6, p, .text, figcaption, dd, nav a { overflow-wrap: anywhere; }
h1, h2, h3, h4, h5, h6, p, .text, figcaption { white-space: pre-wrap; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 6px 20px; margin: 0 0 24px; padding: 16px 0; border: solid var(--line); border-width: 1px 0; }
dt { color: var(--soft); }
dd { margin: 0; }
.partial { color: var(--wrong); }
nav { margin: 0 0 24px; padding: 12px 20px; border-radius: 10px; background: var(--tint); }
nav ul { margin: 0; padding-left: 20px; }
nav > ul { padding: 0; list-style: none; }
nav a { display: inline-block; padding: 3px 0; }
.page { margin: 24px 0; padding: 4px 24px 8px; border: 1px solid var(--line); border-left: 4px solid var(--brand); border-radius: 10px; scroll-margin-top: 16px; }
.page > :first-child { margin-top: .6em; }
.lead { font-size: 18px; color: var(--soft); }
.empty { color: var(--soft); font-style: italic; }
ul, ol { margin: 0 0 16px; padding-left: 28px; }
li { margin: 4px 0; }
li > ul, li > ol { margin: 0; }
.checks { padding-left: 0; list-style: none; }
.checks li { position: relative; padding-left: 32px; }
.check { position: absolute; left: 0; top: 3px; width: 19px; height: 19px; border: 2px solid var(--edge); border-radius: 5px; }
.done { background: var(--brand); border-color: var(--brand); }
.done::after { content: ""; position: absolute; left: 4px; top: 0; width: 6px; height: 11px; border: solid var(--paper); border-width: 0 2px 2px 0; transform: rotate(45deg); }
figure { margin: 20px 0; }
figure a { display: inline-block; max-width: 100%; border-radius: 8px; }
figure img.pending { aspect-ratio: 4 / 3; }
figure img { display: block; max-width: 100%; max-height: 85vh; height: auto; object-fit: contain; border-radius: 8px; background: var(--ground); }
figcaption { margin-top: 6px; font-size: 14px; color: var(--soft); }
.failed, .gone { padding: 12px 16px; border-radius: 8px; border-left: 4px solid; }
.failed { border-color: var(--wrong); background: var(--wrong-tint); color: var(--wrong); }
.gone { border-color: var(--edge); background: var(--ground); color: var(--soft); }
.failed code { display: block; font-size: 13px; overflow-wrap: anywhere; }
.archived { display: inline-block; padding: 2px 10px; border-radius: 8px; background: var(--note-tint); color: var(--note); font-weight: 600; }
@media (max-width: 480px) {
  body { background: var(--paper); }
  header { padding: 12px 16px; border-bottom: 1px solid var(--line); }
  main { padding: 20px 16px 40px; }
  article { padding: 0; border: 0; border-radius: 0; }
  h1 { font-size: 26px; }
  .page { padding: 2px 14px 6px; }
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16202a; --title: #a9d1f5; --note: #f3c98b; --note-tint: #3a2a12; --ink: #e6edf3; --soft: #a9b8c6; --line: #2c3a47;
    --edge: #7d8f9f; --ground: #0f161d; --brand: #8cc4f2; --tint: #1c2b38; --wrong: #ff9c96; --wrong-tint: #3a1719;
  }
}
@page { margin: 15mm; }
@media print {
  :root {
    color-scheme: light; --paper: #fff; --title: #0f3452; --note: #7a4300; --note-tint: #fff; --ink: #000; --soft: #333; --line: #999;
    --edge: #666; --ground: #fff; --brand: #17456b; --tint: #fff; --wrong: #a3171f; --wrong-tint: #fff;
  }
  body { font-size: 11pt; }
  header, nav { display: none; }
  main { max-width: none; padding: 0; }
  article, .page { border: 0; padding: 0; }
  h1, h2, h3, h4, h5, h6 { break-after: avoid; }
  figure, li, dl, .failed, .gone { break-inside: avoid; }
  figure img { max-height: 200mm; }
  .check { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
