// The drawer that lists every effective setting. It is a modal dialog: it keeps the keyboard focus inside and closes
// with Escape.
import {html, useEffect, useRef, useState} from './html.js';
import {Empty, Note, Scroll, list} from './parts.js';
import {get} from './api.js';

export function Settings({close}) {
  const dialog = useRef(null);
  const [settings, setSettings] = useState(null);
  const [error, setError] = useState('');
  const [filter, setFilter] = useState('');
  const [changedOnly, setChangedOnly] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    dialog.current.showModal();
    get('settings', {signal: abort.signal}).then((body) => setSettings(list(body.settings)), (e) => abort.signal.aborted || setError(e.message));
    return () => abort.abort();
  }, []);
  const wanted = filter.toLowerCase();
  const isDefault = (s) => String(s.value ?? '') === String(s.default ?? '');
  const shown = (settings || []).filter((s) => (!changedOnly || !isDefault(s)) && [s.name, s.value, s.origin, s.description].some((text) => String(text ?? '').toLowerCase().includes(wanted)));
  return html`<dialog class="drawer" ref=${dialog} onClose=${close} aria-labelledby="settings-title">
    <div class="bar"><h2 id="settings-title">Settings</h2><button type="button" class="small" onClick=${() => dialog.current.close()}>Close</button></div>
    <div class="bar"><input type="search" autofocus placeholder="Filter" aria-label="Filter the settings" value=${filter} onInput=${(e) => setFilter(e.target.value)} /><label class="check"><input type="checkbox" checked=${changedOnly} onChange=${(e) => setChangedOnly(e.target.checked)} /> only changed ones</label></div>
    ${error && html`<${Note} kind="bad" role="alert">${error}<//>`}
    ${!settings && !error && html`<p class="muted">Loading …</p>`}
    ${settings && shown.length === 0 && html`<${Empty}>No setting matches.<//>`}
    ${shown.length > 0 && html`<${Scroll} label="Settings"><table class="settings"><thead><tr><th scope="col">Property</th><th scope="col">Value</th><th scope="col">Where it comes from</th></tr></thead>
      <tbody>${shown.map((s) => html`<tr key=${s.name} class=${isDefault(s) ? '' : 'changed'}><td><code>${s.name}</code>${s.description && html`<small>${s.description}</small>`}</td><td class="code">${s.value === null || s.value === '' ? html`<span class="muted">not set</span>` : String(s.value)}${!isDefault(s) && s.default != null && html`<small>default ${String(s.default)}</small>`}</td><td>${s.origin || 'default'}</td></tr>`)}</tbody></table><//>`}
  </dialog>`;
}
