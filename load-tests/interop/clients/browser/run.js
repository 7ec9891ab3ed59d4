// Bundles page.js, serves it, opens it in a headless browser and prints the results that the page reports.
// Usage: run.js host:port port-of-the-page descriptor-set browser
'use strict';

const {spawn} = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const esbuild = require('esbuild');

const [address, pagePort, descriptors, browser] = process.argv.slice(2);
const page = 'http://127.0.0.1:' + pagePort;

const bundle = esbuild.buildSync({
  entryPoints: [path.join(__dirname, 'page.js')],
  bundle: true,
  write: false,
  nodePaths: [process.env.NODE_PATH],
}).outputFiles[0].contents;

const files = {
  '/': ['text/html; charset=utf-8', '<!doctype html><title>Interop</title><script src="/page.js"></script>'],
  '/page.js': ['text/javascript; charset=utf-8', bundle],
  '/descriptors': ['application/octet-stream', fs.readFileSync(descriptors)],
};

function listen(report) {
  const server = http.createServer((request, response) => {
    const file = files[new URL(request.url, page).pathname];
    if (request.method === 'POST') {
      let told = '';
      request.setEncoding('utf8');
      request.on('data', (text) => (told += text));
      request.on('end', () => {
        response.end();
        report(told);
      });
    } else if (file) {
      response.writeHead(200, {'content-type': file[0]});
      response.end(file[1]);
    } else {
      response.writeHead(404);
      response.end();
    }
  });
  return new Promise((resolve) => server.listen(Number(pagePort), '127.0.0.1', resolve));
}

async function main() {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'interop-browser-'));
  let child;
  const told = await new Promise((resolve, reject) => {
    listen(resolve).then(() => {
      const flags = [
        '--headless', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync',
        '--disable-component-update', `--user-data-dir=${profile}`,
        // Prevents all other network requests of the browser.
        `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE ${address.split(':')[0]}`,
      ];
      if (process.getuid() === 0) {
        flags.push('--no-sandbox'); // required if the browser runs as root
      }
      child = spawn(browser, [...flags, `${page}/?server=${encodeURIComponent('http://' + address)}`], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      child.on('error', reject);
      child.on('exit', (code) => reject(new Error(`the browser ended with ${code} and reported nothing`)));
    });
    setTimeout(() => reject(new Error('the page reported nothing within 90 s')), 90_000);
  }).finally(() => child?.kill());
  process.stdout.write(told);
  await new Promise((resolve) => child.once('exit', resolve));
  await remove(profile);
}

/**
 * Removes a folder. Tries several times, because helper processes of the browser may still write to the folder for a
 * moment. A remaining folder does not count as a failure of the server.
 */
async function remove(folder) {
  for (let attempt = 1; ; attempt++) {
    try {
      return fs.rmSync(folder, {recursive: true, force: true});
    } catch (failure) {
      if (attempt === 50) {
        console.error(`${folder} stays: ${failure.message}`);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

main().then(
  () => process.exit(0),
  (failure) => {
    console.error(String(failure));
    process.exit(1);
  },
);
