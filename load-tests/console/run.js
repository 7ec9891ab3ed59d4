// Runs the checks of the console's page. Usage: run.js browser mock | run.js browser own java classPath | run.js
// browser URL
'use strict';

const {launch, results} = require('./browser.js');

const [executable, what, ...rest] = process.argv.slice(2);

async function main() {
  const {browser, close} = await launch(executable);
  try {
    if (what === 'mock') await require('./checks.js').run(browser);
    else if (what === 'own') await require('./own-checks.js').run(browser, ...rest);
    else await require('./live-checks.js').run(browser, what);
  } finally {
    await close();
  }
  console.log(`${results.passed} passed, ${results.failed} failed`);
  process.exitCode = results.failed === 0 && results.passed > 0 ? 0 : 1;
}

main().catch((e) => {
  console.error(`console: ${e.message}`);
  process.exit(2);
});
