// Sends requests to the console's endpoint. An ApiError contains a message for the page and the HTTP status. The status
// is 0 if the server did not answer.
const base = new URL('.', import.meta.url);

export class ApiError extends Error {
  constructor(message, facts = {}) {
    super(message);
    this.status = facts.status || 0; // 0 if the server did not answer
    this.body = facts.body || {};
  }
}

export async function get(resource, {signal, text = false} = {}) {
  const response = await request(resource, {signal, headers: {accept: text ? 'text/plain' : 'application/json'}});
  if (!response.ok) throw await failure(response);
  return text ? response.text() : json(response);
}

export async function post(resource, body, {signal} = {}) {
  const headers = {'content-type': 'application/json', accept: 'application/json', 'x-rpc-console': '1'};
  const token = /(?:^|; )XSRF-TOKEN=([^;]+)/.exec(document.cookie); // Spring Security requires its CSRF token in a header
  if (token) headers['x-xsrf-token'] = decodeURIComponent(token[1]);
  const response = await request(resource, {method: 'POST', signal, headers, body: JSON.stringify(body)});
  if (!response.ok) throw await failure(response);
  return json(response);
}

async function request(resource, options) {
  try {
    return await fetch(new URL(resource, base), {...options, cache: 'no-store', redirect: 'manual'});
  } catch (e) {
    if (e.name === 'AbortError' || e.name === 'TimeoutError') throw e;
    throw new ApiError('The application does not answer.');
  }
}

async function json(response) {
  let body;
  try {
    body = JSON.parse(await response.text());
  } catch (e) {
    if (e instanceof SyntaxError) throw new ApiError('The answer is not JSON. Perhaps a proxy or a login page answered. Reload the page.', {status: response.status});
    if (e.name === 'AbortError' || e.name === 'TimeoutError') throw e;
    throw new ApiError('The connection broke while the answer was read.');
  }
  if (body.version !== 1) throw new ApiError('The server speaks another version of the console. Reload the page.', {status: response.status});
  return body;
}

async function failure(response) {
  if (response.type === 'opaqueredirect') return new ApiError('The server redirects, perhaps to its login page. Reload the page.', {status: 302});
  const body = await response.json().catch(() => ({}));
  const told = typeof body.error === 'string' && body.error;
  const usual = {
    401: 'The login has ended. Reload the page.',
    403: 'Access is refused. Reload the page to log in again.',
    404: 'The endpoint is gone. Perhaps another version of the application runs now. Reload the page.',
    413: 'The request is larger than 1 MB.',
  };
  return new ApiError(told || usual[response.status] || `The server answered with status ${response.status}.`, {status: response.status, body});
}
