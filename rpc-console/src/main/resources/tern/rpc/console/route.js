// Every view has a link in the form #/tab/part/part?name=value. Each part is percent-encoded, so a service or method
// name may contain any character.
export function route() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return {parts: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(query)};
}

export function link(parts, query) {
  const text = query ? new URLSearchParams(query).toString() : '';
  return `#/${parts.map(encodeURIComponent).join('/')}${text && `?${text}`}`;
}

export const go = (parts, query) => {
  location.hash = link(parts, query);
};

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // the part is not valid percent-encoding; the view then reports that it finds nothing under this name
  }
}
