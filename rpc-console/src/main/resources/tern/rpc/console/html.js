// Preact and htm as one import. All text of the server goes through these templates, which create text nodes and attributes
// but never parse HTML.
import {h, render, Fragment} from './preact.js';
import htm from './htm.js';

export {render, Fragment};
export {useState, useEffect, useRef, useMemo, useCallback, useErrorBoundary} from './hooks.js';
export const html = htm.bind(h);
