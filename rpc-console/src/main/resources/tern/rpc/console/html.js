// Exports Preact and htm from one module. All text from the server is shown through these templates. The templates
// create text nodes and attributes but never parse HTML.
import {h, render, Fragment} from './preact.js';
import htm from './htm.js';

export {render, Fragment};
export {useState, useEffect, useRef, useMemo, useCallback, useErrorBoundary} from './hooks.js';
export const html = htm.bind(h);
