// Sets the chosen colours before the first paint. It is a classic script, because modules run after the paint.
'use strict';
try {
  const theme = localStorage.getItem('tern-console-theme');
  if (theme === 'dark' || theme === 'light') {
    document.documentElement.dataset.theme = theme;
  }
} catch {
  // Storage may be forbidden. The colours then follow the system.
}
