// The checks of the console's page. Usage: run.js browser [URL of a running console]
'use strict';

const {launch, results} = require('./browser.js');

const [executable, url] = process.argv.slice(2);

async function main() {
  const {browser, close} = await launch(executable);
  try {
    if (url) await require('./live-checks.js').run(browser, url);
    else await require('./checks.js').run(browser);
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
