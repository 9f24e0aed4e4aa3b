/** The stylesheet of a report's page. Contrast of every text is at least 4.5 to 1. */
export const STYLES = `
:root { color-scheme: light; --ink: #16212b; --soft: #4c5a67; --line: #d5dde4; --ground: #eef2f5; --wrong: #a3171f; --wrong-tint: #fdeceb; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; }
main { max-width: 820px; margin: 0 auto; padding: 24px 16px 64px; }
article { background: #fff; border: 1px solid var(--line); border-radius: 14px; padding: 24px; }
h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 1.2em 0 .4em; }
h1 { margin-top: 0; }
h1, h2, h3, h4, h5, h6, p, li, figcaption, dd { overflow-wrap: anywhere; white-space: pre-wrap; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 0 0 24px; color: var(--soft); }
dt { font-weight: 600; }
dd { margin: 0; }
.page { margin: 24px 0; padding: 4px 20px 12px; border: 1px solid var(--line); border-left: 4px solid #17456b; border-radius: 10px; }
.lead { color: var(--soft); }
figure { margin: 16px 0; }
figure img { display: block; max-width: 100%; height: auto; border-radius: 8px; }
.failed, .gone { padding: 12px 16px; border-radius: 8px; border-left: 4px solid var(--wrong); background: var(--wrong-tint); color: var(--wrong); }
.failed code { display: block; font-size: 13px; }
.checks { list-style: none; padding-left: 0; }
.depth-1 { margin-left: 1.5em; } .depth-2 { margin-left: 3em; } .depth-3 { margin-left: 4.5em; }
.depth-4 { margin-left: 6em; } .depth-5 { margin-left: 7.5em; } .depth-6 { margin-left: 9em; }
.archived { display: inline-block; padding: 2px 10px; border-radius: 8px; background: #fdf3e3; color: #7a4300; font-weight: 600; }
`;
