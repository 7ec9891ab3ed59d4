// Shows the result of a call: the status code, whether the method was executed, the answers, the headers and the time
// by phase.
import {html, useMemo, useState} from './html.js';
import {parse, print} from './json.js';
import {Badge, Copy, Note, Operations, PhaseBar, bytes, count, entries, list, millis} from './parts.js';

const MAX_SHOWN = 100_000; // characters; the rest of a longer answer is shown on request
const MAX_PRETTY = 2_000_000;
const EXECUTED = {YES: ['', 'executed'], NO: ['good', 'not executed'], MAYBE: ['warn', 'perhaps executed']};

export function Result({result, target}) {
  const [kind, told] = EXECUTED[result.executed] || ['', String(result.executed)];
  const answers = list(result.answers);
  return html`<section class="result" aria-label="Result">
    <div class="bar"><${Badge} kind=${result.code === 'OK' ? 'good' : 'bad'}>${result.code}<//><${Badge} kind=${kind}>${told}<//><b class="num">${millis(result.tookMillis)}</b><span class="muted">${bytes(result.sizeBytes)}${answers.length > 1 && `, ${count(answers.length)} answers`}</span></div>
    ${(result.message || result.exception) && html`<${Note} kind="bad">${result.message || 'The method threw an exception.'}${result.exception && html`<br /><code>${result.exception}</code>`}<//>`}
    ${result.cut && html`<${Note} kind="warn">The answers are incomplete: ${result.cut}<//>`}
    ${list(result.phases).length > 0 && html`<${PhaseBar} phases=${result.phases} took=${result.tookMillis} target=${target} />`}
    ${answers.length === 0 && result.code === 'OK' && html`<p class="muted">The method returned nothing.</p>`}
    ${answers.length === 1 && html`<${Answer} text=${answers[0]} />`}
    ${answers.length > 1 && html`<ol class="answers">${answers.map((text, i) => html`<li key=${i}><${Answer} text=${text} number=${i + 1} /></li>`)}</ol>`}
    <${Operations} operations=${result.operations} />
    <${Pairs} title="Headers" pairs=${entries(result.headers)} /><${Pairs} title="Trailers" pairs=${entries(result.trailers)} />
    ${result.trace && html`<p class="muted">Trace <code>${result.trace}</code> <${Copy} text=${result.trace} name="the trace id" /></p>`}
  </section>`;
}

const Pairs = ({title, pairs}) => pairs.length > 0 && html`<details><summary>${title} (${pairs.length})</summary><dl class="facts code">${pairs.map(([name, value]) => html`<dt>${name}</dt><dd>${String(value)}</dd>`)}</dl></details>`;

function pretty(text) {
  if (text.length > MAX_PRETTY) return text;
  try {
    return print(parse(text));
  } catch {
    return text; // the answer is not valid JSON, so it is shown unchanged
  }
}

function Answer({text, number}) {
  const [all, setAll] = useState(false);
  const whole = useMemo(() => pretty(String(text)), [text]);
  const cut = !all && whole.length > MAX_SHOWN;
  return html`<div class="answer"><pre tabindex="0" role="group" aria-label=${number ? `Answer ${number}` : 'Answer'}>${cut ? whole.slice(0, MAX_SHOWN) : whole}</pre>
    <div class="bar"><${Copy} text=${whole} name=${number ? `answer ${number}` : 'the answer'} />${cut && html`<button type="button" class="small" onClick=${() => setAll(true)}>Show all ${bytes(whole.length)}</button><span class="muted">the first ${bytes(MAX_SHOWN)} are shown</span>`}</div></div>`;
}
