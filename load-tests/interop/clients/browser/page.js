// Runs in the browser. Calls grpc.testing.TestService on another origin by gRPC-Web and by Connect. For each case,
// posts a line "ok CASE" or "failed CASE REASON" to the server from which the page was loaded.
import {createFileRegistry, fromBinary} from '@bufbuild/protobuf';
import {FileDescriptorSetSchema} from '@bufbuild/protobuf/wkt';
import {Code, ConnectError, createClient} from '@connectrpc/connect';
import {createConnectTransport, createGrpcWebTransport} from '@connectrpc/connect-web';

const baseUrl = new URLSearchParams(location.search).get('server');

function equal(actual, expected) {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`expected ${JSON.stringify(expected)}, was ${JSON.stringify(actual)}`);
  }
}

async function failsWith(code, call) {
  let failure;
  try {
    await call();
  } catch (error) {
    failure = ConnectError.from(error);
  }
  equal(failure && Code[failure.code], Code[code]);
  return failure;
}

async function sizesOf(messages) {
  const sizes = [];
  for await (const message of messages) {
    sizes.push(message.payload.body.length);
  }
  return sizes;
}

async function unary(client) {
  const response = await client.unaryCall({responseSize: 314159, payload: {body: new Uint8Array(271828)}});
  equal(response.payload.body.length, 314159);
}

async function serverStream(client) {
  const sizes = [31415, 9, 2653, 58979];
  equal(await sizesOf(client.streamingOutputCall({responseParameters: sizes.map((size) => ({size}))})), sizes);
}

async function status(client) {
  const message = 'no such order: ä❤😀';
  const failure = await failsWith(Code.NotFound, () =>
    client.unaryCall({responseStatus: {code: Code.NotFound, message}}));
  equal(failure.rawMessage, message);
}

async function metadata(client) {
  const seen = {};
  await client.unaryCall({responseSize: 1}, {
    headers: {'x-grpc-test-echo-initial': 'first', 'x-grpc-test-echo-trailing-bin': 'q6ur'},
    onHeader: (headers) => (seen.header = headers.get('x-grpc-test-echo-initial')),
    onTrailer: (trailers) => (seen.trailer = trailers.get('x-grpc-test-echo-trailing-bin')),
  });
  equal(seen, {header: 'first', trailer: 'q6ur'});
}

async function deadline(client) {
  await failsWith(Code.DeadlineExceeded, () =>
    sizesOf(client.streamingOutputCall({responseParameters: [{size: 1, intervalUs: 30_000_000}]}, {timeoutMs: 200})));
}

/** Makes JSON calls without a library, like a simple page. */
async function plainFetch() {
  const response = await fetch(`${baseUrl}/grpc.testing.TestService/UnaryCall`, {
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify({responseSize: 4}),
  });
  equal([response.status, (await response.json()).payload.body], [200, 'AAAAAA==']);
}

async function main() {
  const descriptors = new Uint8Array(await (await fetch('/descriptors')).arrayBuffer());
  const service = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptors))
    .getService('grpc.testing.TestService');
  const grpcWeb = createClient(service, createGrpcWebTransport({baseUrl}));
  const proto = createClient(service, createConnectTransport({baseUrl, useBinaryFormat: true}));
  const json = createClient(service, createConnectTransport({baseUrl, useBinaryFormat: false}));
  const cases = {
    'grpc-web-unary': () => unary(grpcWeb),
    'grpc-web-server-stream': () => serverStream(grpcWeb),
    'grpc-web-status': () => status(grpcWeb),
    'grpc-web-metadata': () => metadata(grpcWeb),
    'grpc-web-deadline': () => deadline(grpcWeb),
    'connect-proto-unary': () => unary(proto),
    'connect-proto-status': () => status(proto),
    'connect-proto-metadata': () => metadata(proto),
    'connect-json-unary': () => unary(json),
    'connect-json-status': () => status(json),
    'plain-fetch': plainFetch,
  };
  const lines = [];
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run();
      lines.push(`ok ${name}`);
    } catch (failure) {
      lines.push(`failed ${name} ${String(failure).replace(/\s+/g, ' ')}`);
    }
  }
  return lines;
}

main()
  .catch((failure) => [`failed page ${failure}`])
  .then((lines) => fetch('/results', {method: 'POST', body: lines.join('\n') + '\n'}));
