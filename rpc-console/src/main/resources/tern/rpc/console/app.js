// The page's frame: the tabs, the connection state, the settings drawer and the colour theme.
import {html, render, useEffect, useErrorBoundary, useState} from './html.js';
import {get} from './api.js';
import {live, pause, tryAgain, useLive, want, changed} from './live.js';
import {Badge, Copy, Note, clock} from './parts.js';
import {go, link, route} from './route.js';
import {Now, stateOf} from './now.js';
import {Services} from './services.js';
import {Why} from './why.js';
import {Slow} from './slow.js';
import {Outgoing} from './outgoing.js';
import {Settings} from './settings.js';

const TABS = [['now', 'Now'], ['services', 'Services'], ['why', 'Why'], ['slow', 'Slow calls'], ['outgoing', 'Outgoing']];
const RESTART_SHOWN = 15_000;

function App() {
  const [at, setAt] = useState(route);
  useLive();
  useEffect(() => {
    const moved = () => setAt(route());
    window.addEventListener('hashchange', moved);
    return () => window.removeEventListener('hashchange', moved);
  }, []);
  const tab = TABS.some(([id]) => id === at.parts[0]) ? at.parts[0] : 'now';
  useEffect(() => want(tab), [tab]);
  const now = live.data.now;
  const name = TABS.find(([id]) => id === tab)[1];
  useEffect(() => {
    document.title = `${name} – ${now?.application || 'Tern RPC'}`;
  }, [name, now?.application]);
  const drawer = at.query.has('settings');
  return html`
    <a class="skip" href="#content" onClick=${skip}>Skip to the content</a>
    <header class="top">
      <span class="brand">Tern RPC<b>${now?.application}</b></span>
      ${now && html`<a class="state" href="#/why"><${Badge} kind=${stateOf(now.diagnosis)[0]}>${stateOf(now.diagnosis)[1]}<//></a>`}
      <div class="tools">
        <button type="button" class="small ${live.paused ? 'paused' : ''}" onClick=${() => pause(!live.paused)}>${live.paused ? 'Continue' : 'Pause'}</button>
        <${Copy} text=${() => get('report', {text: true})} label="Copy report" />
        <a class="button small" href=${link(at.parts.length ? at.parts : ['now'], {settings: ''})}>Settings</a>
        <${Theme} />
      </div>
      <nav class="tabs" aria-label="Views">${TABS.map(([id, text]) => html`<a key=${id} href=${link([id])} aria-current=${id === tab ? 'page' : null}>${text}</a>`)}</nav>
    </header>
    <main class="page" id="content" tabindex="-1">
      <${Connection} />
      <${Guard} key=${tab}><${View} tab=${tab} parts=${at.parts.slice(1)} /><//>
    </main>
    ${drawer && html`<${Settings} close=${() => go(at.parts)} />`}`;
}

// The skip link sets the focus by script. It cannot use the fragment of the page's address, because the fragment
// contains the route.
function skip(event) {
  event.preventDefault();
  document.getElementById('content').focus();
}

function View({tab, parts}) {
  const data = live.data[tab];
  if (!data) return html`<p class="muted" role="status">${live.lost || live.refused ? 'Nothing to show without the application.' : 'Loading …'}</p>`;
  switch (tab) {
    case 'services': return html`<${Services} services=${data} parts=${parts} />`;
    case 'why': return html`<${Why} why=${data} />`;
    case 'slow': return html`<${Slow} slow=${data} selected=${parts[0]} />`;
    case 'outgoing': return html`<${Outgoing} outgoing=${data} />`;
    default: return html`<${Now} now=${data} />`;
  }
}

/** Catches the exception of a view that cannot show the server's answer. The rest of the page keeps working. */
function Guard({children}) {
  const [error, reset] = useErrorBoundary();
  if (error) return html`<${Note} kind="bad" role="alert">This view cannot show the answer of the server: ${error.message} <button type="button" class="small" onClick=${reset}>Try again</button><//>`;
  return children;
}

function Connection() {
  const {lost, refused, restartedAt, paused} = live;
  useEffect(() => {
    if (!restartedAt) return undefined;
    const timer = setTimeout(dismiss, RESTART_SHOWN);
    return () => clearTimeout(timer);
  }, [restartedAt]);
  return html`<div aria-live="polite">
    ${lost && html`<${Note} kind="bad" id="lost">No connection since ${clock(lost.since)}. ${lost.why} What you see is older. The page goes on trying.<//>`}
    ${refused && html`<${Note} kind="bad" id="refused">${refused} ${live.ended && html`<button type="button" class="small" onClick=${tryAgain}>Try again</button>`}<//>`}
    ${restartedAt && html`<${Note} kind="warn" id="restarted">The application was restarted, or another process answers, since ${clock(restartedAt)}. All figures begin again. <button type="button" class="small" onClick=${dismiss}>Dismiss</button><//>`}
    ${paused && html`<${Note} id="paused">Paused. The figures do not change until you continue.<//>`}
  </div>`;
}

function dismiss() {
  live.restartedAt = null;
  changed();
}

const THEMES = {auto: 'Auto', light: 'Light', dark: 'Dark'};

function Theme() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme || 'auto');
  const next = () => {
    const names = Object.keys(THEMES);
    const chosen = names[(names.indexOf(theme) + 1) % names.length];
    if (chosen === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    try {
      localStorage.setItem('tern-console-theme', chosen);
    } catch {
      // The browser may forbid storage. The chosen theme is then lost when the page is closed.
    }
    setTheme(chosen);
    window.dispatchEvent(new Event('tern-theme'));
  };
  useEffect(() => {
    const media = matchMedia('(prefers-color-scheme: dark)');
    const changed = () => window.dispatchEvent(new Event('tern-theme'));
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  return html`<button type="button" class="small" onClick=${next} aria-label=${`Colours: ${THEMES[theme]}`} title="Colours: of the system, light or dark"><span aria-hidden="true">◐ </span>${THEMES[theme]}</button>`;
}

const root = document.getElementById('app');
root.textContent = '';
render(html`<${App} />`, root);
