#include "report/page_style.hpp"

#include "plot/theme.hpp"

namespace fenchel::report {
namespace {

constexpr const char* kCss = R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1f2328; --muted: #59636e; --rule: #dde1e6; --edge: #1f232838; --soft: #f5f7f9;
  --link: #0062a0; --good: #1a7f4b; --bad: #c4280c; --says: #b77900; --ours: #0072b2;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #15181d; --ink: #e6e9ed; --muted: #9aa4af; --rule: #2f353d; --edge: #e6e9ed40; --soft: #1c2026;
    --link: #6cb8f0; --good: #4cc38a; --bad: #ff8a70; --says: #f0b13c; --ours: #4aa8e8;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  overflow-wrap: break-word;
}
header, nav, main, footer { max-width: 72rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 3.5rem; }
h1, h2, h3 { line-height: 1.25; text-wrap: balance; }
h1 { font-size: clamp(1.75rem, 1.3rem + 2vw, 2.6rem); font-weight: 650; letter-spacing: -.015em; margin: 0 0 .75rem; }
h2 { font-size: clamp(1.35rem, 1.15rem + .9vw, 1.75rem); font-weight: 650; letter-spacing: -.01em; margin: 0; }
h3 { font-size: .8125rem; font-weight: 650; letter-spacing: .04em; margin: 0 0 .35rem; }
p { margin: 0 0 .8rem; }
a { color: var(--link); text-decoration-thickness: .06em; text-underline-offset: .18em; }
code { font: .92em ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
var { font-family: "STIX Two Text", Cambria, Georgia, "DejaVu Serif", serif; }
.lead, .says p, .computed p { max-width: 46rem; }
.reference, .version, .place { color: var(--muted); }
.reference { max-width: 46rem; }
.version { font-size: .9375rem; }
.summary { display: flex; flex-wrap: wrap; gap: .75rem 2.5rem; margin: 1.75rem 0 0; padding: 0; list-style: none; }
.summary b { display: block; font-size: 1.75rem; line-height: 1.2; font-weight: 650; font-variant-numeric: tabular-nums; }
.summary li { color: var(--muted); font-size: .9375rem; }
.summary b { color: var(--ink); }
nav { margin-top: 2.25rem; }
nav ol { columns: 20rem; column-gap: 2.5rem; margin: 0; padding: 1rem 0 1rem 2rem; border-block: 1px solid var(--rule); }
.up {
  position: fixed; right: 1rem; bottom: 1rem; padding: .35rem .8rem; border: 1px solid var(--rule); border-radius: 999px;
  background: var(--paper); font-size: .875rem; text-decoration: none;
}
@media screen and (min-width: 80rem) {
  body { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  header, main, footer { grid-column: 2; width: 100%; }
  nav {
    grid-column: 1; grid-row: 1 / span 3; align-self: start; position: sticky; top: 0; max-height: 100vh; overflow-y: auto;
    margin: 0; padding: 3.5rem 0 2rem 1.5rem; font-size: .875rem; line-height: 1.4;
  }
  nav ol { columns: auto; padding: 0 0 0 2rem; border: 0; }
}
math { font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", math; font-size: 1.05em; }
math .bold { font-weight: 700; }
nav li { break-inside: avoid; padding: .2rem 0; }
nav li::marker { color: var(--muted); font-variant-numeric: tabular-nums; }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }
section { padding: 3.5rem 0 0; }
.place { font-size: .9375rem; margin: .2rem 0 1.5rem; }
.says, .computed { padding-left: 1rem; border-left: 3px solid var(--says); margin-bottom: 1.4rem; }
.computed { border-color: var(--ours); }
.says h3 { color: var(--says); }
.computed h3 { color: var(--ours); }
.says p:last-child, .computed p:last-child { margin-bottom: 0; }
figure { margin: 2rem 0; }
.charts {
  display: grid; gap: 1.5rem 1.75rem; justify-items: center; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, max(var(--least), 100% / (var(--columns) + 1) + 1px)), 1fr));
}
.charts svg { display: block; width: 100%; height: auto; max-width: 36rem; }
figure .scroll { margin: 0; }
.scroll img { display: block; max-width: 100%; height: auto; border-radius: 4px; }
.recorded {
  display: inline-block; padding: 0 .45em; border: 1px solid var(--says); border-radius: 999px; color: var(--says);
  font-size: .8125rem; font-weight: 600; line-height: 1.4; white-space: nowrap;
}
.figures {
  display: grid; gap: 0 1.75rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, max(20rem, 100% / 3 + 1px)), 1fr));
}
figcaption, caption { color: var(--muted); font-size: .9375rem; line-height: 1.5; text-align: left; }
figcaption { margin-top: .9rem; max-width: 52rem; }
caption { padding: 0 0 .6rem; }
caption > span { display: block; min-width: min(34rem, 100vw - 2.5rem); max-width: min(52rem, 100vw - 2.5rem); }
figcaption b, caption b { color: var(--ink); font-weight: 600; }
.scroll {
  overflow-x: auto; margin: 1.75rem 0;
  background:
    linear-gradient(to right, var(--paper) 30%, transparent) left / 2.5rem 100% no-repeat local,
    linear-gradient(to left, var(--paper) 30%, transparent) right / 2.5rem 100% no-repeat local,
    linear-gradient(to right, transparent 2px, var(--edge) 2px, transparent) left center / 1rem calc(100% - 4px) no-repeat scroll,
    linear-gradient(to left, transparent 2px, var(--edge) 2px, transparent) right center / 1rem calc(100% - 4px) no-repeat scroll;
}
.scroll:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .9375rem; line-height: 1.45; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--rule); }
th:last-child, td:last-child { padding-right: 0; }
thead th { font-weight: 600; border-bottom: 1.5px solid var(--muted); vertical-align: bottom; }
td.unsigned::before { content: "\2212"; visibility: hidden; }
.checks td:first-child { min-width: 13rem; }
.checks .difference { white-space: nowrap; }
.checks small { color: var(--muted); font-size: .8125rem; }
.checks .mark { color: var(--good); text-align: center; font-weight: 650; }
.checks .errs .mark { color: var(--says); font-weight: 400; font-size: .8125rem; }
.checks .failed td { background: color-mix(in srgb, var(--bad) 12%, transparent); }
.checks .failed .mark { color: var(--bad); }
.close { margin-top: 2rem; }
.close h3 { color: var(--muted); }
footer { color: var(--muted); font-size: .9375rem; padding-top: 3rem; padding-bottom: 3rem; }
@media (max-width: 40rem) {
  body { font-size: 1rem; }
  header, nav, main, footer { padding-left: 1rem; padding-right: 1rem; }
  header { padding-top: 2rem; }
  section { padding-top: 2.75rem; }
  .summary { gap: .6rem 1.75rem; }
  .short { white-space: nowrap; }
  .long { min-width: 12rem; }
  .scroll img { max-width: none; width: 36rem; }
  .checks, .checks tbody { display: block; }
  .checks thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  .checks tr { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; padding: .5rem 0; border-bottom: 1px solid var(--rule); }
  .checks td { border: 0; padding: 0; min-width: 0; white-space: normal; overflow-wrap: anywhere; }
  .checks td:first-child { grid-column: 1 / -1; min-width: 0; }
  .checks td:nth-child(2)::before { content: "the paper prints"; }
  .checks td:nth-child(3)::before { content: "compared with"; }
  .checks td:nth-child(4)::before { content: "ours"; }
  .checks td:nth-child(n + 2):nth-child(-n + 4)::before {
    display: block; visibility: visible; color: var(--muted); font-size: .8125rem;
  }
  .checks .difference { white-space: normal; }
  p, figcaption, dd, .checks td { overflow-x: auto; overflow-y: hidden; }
  .checks .mark { text-align: left; }
}
@media print {
  :root { color-scheme: light; font-size: 75%; }
  header, nav, main, footer { max-width: none; padding-left: 0; padding-right: 0; }
  section { padding-top: 1.6rem; }
  .charts { --least: 12rem !important; }
  figure, .charts svg, .scroll img, tr, .says, .computed { break-inside: avoid; }
  h2, h3, .place, caption, thead { break-after: avoid; }
  .scroll { overflow: visible; background: none; }
  .up { display: none; }
  table { font-size: .875rem; }
  th, td { padding-right: .45rem; }
  a { color: inherit; text-decoration: none; }
}
)css";

}  // namespace

std::string page_style() { return kCss + plot::style_sheet(plot::Theme::automatic); }

}  // namespace fenchel::report
