/** Stylesheet of the interaction pages. Contrast is at least 4.5:1 for text and 3:1 for borders of controls (WCAG AA). */
export const STYLES = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#16212b, #e7edf3);
  --soft: light-dark(#4c5a67, #a3b1be);
  --line: light-dark(#d5dde4, #2a3642);
  --edge: light-dark(#7a8894, #758594);
  --paper: light-dark(#fff, #161d24);
  --ground: light-dark(#eef2f5, #0e1318);
  --brand: light-dark(#17456b, #8cc4f2);
  --brand-dark: light-dark(#0f3452, #b4d9f8);
  --on-brand: light-dark(#fff, #0b1a27);
  --focus: light-dark(#2f7fc1, #7cc0ff);
  --tint: light-dark(#e8f0f6, #1b3347);
  --change: light-dark(#7a4300, #f0bd6a);
  --change-tint: light-dark(#fdf3e3, #38290f);
  --change-line: light-dark(#e5c48d, #6b5320);
  --wrong: light-dark(#a3171f, #ff9c96);
  --wrong-tint: light-dark(#fdeceb, #3d191b);
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0;
  min-height: 100vh;
  display: flex;
  flex-direction: column;
  background: var(--ground);
  color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
.masthead {
  display: flex; align-items: center; gap: 10px; width: 100%; max-width: 520px; margin: 0 auto; padding: 40px 16px 16px;
  font-weight: 600; color: var(--brand-dark);
}
.narrow .masthead { max-width: 440px; }
.masthead img { width: 28px; height: 28px; }
main { flex: 1; width: 100%; max-width: 520px; margin: 0 auto; padding: 0 16px 40px; }
.narrow main { max-width: 440px; }
.card {
  background: var(--paper);
  border: 1px solid var(--line);
  border-radius: 14px;
  box-shadow: 0 1px 2px rgb(22 33 43 / 6%), 0 10px 30px rgb(22 33 43 / 7%);
  padding: 32px;
}
footer { padding: 0 24px 28px; text-align: center; font-size: 14px; color: var(--soft); }
h1 { margin: 0 0 8px; font-size: 24px; line-height: 1.25; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { margin: 0; font-size: 16px; line-height: 1.4; }
p { margin: 0 0 16px; }
strong { overflow-wrap: anywhere; }
.lead { color: var(--soft); margin-bottom: 24px; }
.small { font-size: 14px; color: var(--soft); }
.small strong { color: var(--ink); }
a { color: var(--brand); }

.parties { display: flex; align-items: center; gap: 12px; margin-bottom: 20px; }
.parties .line { flex: 0 0 32px; border-top: 2px dashed var(--edge); }
.badge {
  flex: none; width: 48px; height: 48px; overflow: hidden; text-align: center; font-size: 0; line-height: 46px;
  border-radius: 12px; border: 1px solid var(--line); background: var(--tint); color: var(--brand-dark);
}
.badge > span { display: inline-block; width: 100%; font-weight: 700; font-size: 20px; }
/* No fixed size: an image that fails to load takes no space, and the initial remains visible. */
.badge img { max-width: 100%; max-height: 100%; vertical-align: middle; }
.badge:has(img) { background: #fff; }
.choice .badge { width: 40px; height: 40px; line-height: 38px; border-radius: 10px; }
.choice .badge > span { font-size: 17px; }

label { display: block; margin-bottom: 6px; font-weight: 600; }
.field { margin-bottom: 20px; }
.field input {
  width: 100%; min-height: 48px; padding: 10px 14px; font: inherit; color: inherit;
  background: var(--paper); border: 1px solid var(--edge); border-radius: 8px;
}
.field input[aria-invalid=true] { border-color: var(--wrong); border-width: 2px; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }

.notice { margin-bottom: 20px; padding: 12px 16px; border-radius: 8px; border-left: 4px solid var(--brand); background: var(--tint); }
.notice.wrong { border-color: var(--wrong); background: var(--wrong-tint); color: var(--wrong); }
.notice p { margin: 0; }

button {
  width: 100%; min-height: 48px; padding: 10px 20px; font: inherit; font-weight: 600; cursor: pointer;
  border-radius: 8px; border: 1px solid var(--brand); background: var(--brand); color: var(--on-brand);
}
button:hover { background: var(--brand-dark); }
button.second { background: var(--paper); color: var(--brand); border-color: var(--edge); }
button.second:hover { background: var(--tint); }
button.link {
  width: auto; min-height: 24px; padding: 0; border: 0; background: none; color: var(--brand);
  font-weight: 400; text-decoration: underline;
}
.actions { display: grid; gap: 12px; margin: 0; }
form + .actions, p + .actions { margin-top: 12px; }
.card > .small { margin: 16px 0 0; }
.button {
  display: block; min-height: 48px; padding: 11px 20px; text-align: center; font-weight: 600; text-decoration: none;
  border-radius: 8px; background: var(--brand); color: var(--on-brand);
}
.button:hover { background: var(--brand-dark); }

.permissions { margin-bottom: 16px; padding: 16px 20px; border: 1px solid var(--line); border-radius: 10px; }
.permissions.change { border-color: var(--change-line); background: var(--change-tint); }
.permissions h2 { display: flex; align-items: center; gap: 8px; }
.permissions.change h2 { color: var(--change); }
.permissions svg { flex: none; width: 20px; height: 20px; }
.permissions ul { margin: 8px 0 0; padding: 0; list-style: none; }
.permissions li { position: relative; padding: 4px 0 4px 28px; }
.permissions li::before {
  content: ""; position: absolute; left: 7px; top: 13px; width: 6px; height: 6px; border-radius: 50%; background: currentColor;
  opacity: .55;
}

fieldset { margin: 0 0 20px; padding: 0; border: 0; min-width: 0; }
legend { padding: 0; }
.choice { position: relative; margin: 0 0 12px; }
.choice input { position: absolute; left: 16px; top: 50%; width: 20px; height: 20px; margin: -10px 0 0; accent-color: var(--brand); }
.choice label {
  display: flex; align-items: center; gap: 14px; margin: 0; padding: 14px 16px 14px 52px; min-height: 68px;
  border: 1px solid var(--edge); border-radius: 10px; cursor: pointer; font-weight: 400;
}
.choice label > span:last-child { min-width: 0; }
.choice .name { display: block; font-weight: 600; overflow-wrap: anywhere; }
.choice .detail { display: block; font-size: 14px; color: var(--soft); }
.choice input:checked + label { border-color: var(--brand); box-shadow: inset 0 0 0 1px var(--brand); background: var(--tint); }
.choice input:focus-visible { outline: none; }
.choice input:focus-visible + label { outline: 3px solid var(--focus); outline-offset: 2px; }
.choice.off label { cursor: not-allowed; background: var(--ground); border-color: var(--line); }
.choice.off .name { color: var(--soft); }
.choice.off .badge { filter: grayscale(1); }

.hint { margin: 6px 0 0; }
.application { margin-bottom: 16px; padding: 16px 20px; border: 1px solid var(--line); border-radius: 10px; }
.application h2 { overflow-wrap: anywhere; }
.application dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 8px 0 12px; font-size: 14px; }
.application dt { color: var(--soft); }
.application dd { margin: 0; overflow-wrap: anywhere; }
.application summary { min-height: 24px; cursor: pointer; color: var(--brand); font-size: 14px; }
.application details { margin-bottom: 12px; }
.application details p { margin: 8px 0 0; }
.application ul { margin: 4px 0 0; padding-left: 20px; font-size: 14px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.who { margin: 20px 0 0; padding-top: 16px; border-top: 1px solid var(--line); font-size: 14px; color: var(--soft); }
.inline { display: inline; }
.who strong { color: var(--ink); }
.reference { margin: 16px 0 0; font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: var(--soft); overflow-wrap: anywhere; }

@media (max-width: 480px) {
  body { background: var(--paper); }
  .masthead, .narrow .masthead { max-width: none; padding: 16px 20px; border-bottom: 1px solid var(--line); }
  main, .narrow main { max-width: none; padding: 24px 20px 32px; }
  .card { padding: 0; border: 0; border-radius: 0; box-shadow: none; }
}
@media (forced-colors: active) {
  .choice input:checked + label { outline: 2px solid; }
}
`;
