// Sets the chosen colour theme before the page is first painted. This is a classic script, because modules run after
// the first paint.
'use strict';
try {
  const theme = localStorage.getItem('tern-console-theme');
  if (theme === 'dark' || theme === 'light') {
    document.documentElement.dataset.theme = theme;
  }
} catch {
  // The browser may forbid storage. The colours then follow the operating system's theme.
}
