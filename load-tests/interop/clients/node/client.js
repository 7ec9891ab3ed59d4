// Calls grpc.testing.TestService through @grpc/grpc-js and prints "ok CASE" or "failed CASE REASON" for each case.
// Usage: client.js host:port folder-of-the-proto-files
'use strict';

const assert = require('node:assert/strict');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const [address, folder] = process.argv.slice(2);
const definition = protoLoader.loadSync('grpc/testing/test.proto', {includeDirs: [folder], keepCase: false});
const {TestService} = grpc.loadPackageDefinition(definition).grpc.testing;

const soon = () => ({deadline: Date.now() + 20_000});
const zeros = (size) => ({body: Buffer.alloc(size)});
const outputs = (...sizes) => ({responseParameters: sizes.map((size) => ({size}))});

/** Makes a unary call. Resolves to its response, headers and trailers, or rejects with the call's error. */
function unary(client, method, request, metadata = new grpc.Metadata()) {
  return new Promise((resolve, reject) => {
    const answer = {};
    const call = client[method](request, metadata, soon(), (error, response) => {
      answer.response = response;
      error ? reject(error) : setImmediate(() => resolve(answer)); // The status arrives after the response.
    });
    call.on('metadata', (headers) => (answer.headers = headers));
    call.on('status', (status) => (answer.trailers = status.metadata));
  });
}

async function sizesOf(stream) {
  const sizes = [];
  for await (const message of stream) {
    sizes.push(message.payload.body.length);
  }
  return sizes;
}

const next = (stream) =>
  new Promise((resolve, reject) => {
    stream.once('data', resolve);
    stream.once('error', reject);
  });

async function failsWith(code, call) {
  try {
    await call();
  } catch (error) {
    assert.equal(error.code, code, error.message);
    return error;
  }
  assert.fail(`expected ${grpc.status[code]}, succeeded`);
}

const SIZES = [31415, 9, 2653, 58979];

const cases = {
  async empty_unary(client) {
    assert.deepEqual((await unary(client, 'emptyCall', {})).response, {});
  },
  async large_unary(client) {
    const {response} = await unary(client, 'unaryCall', {responseSize: 314159, payload: zeros(271828)});
    assert.equal(response.payload.body.length, 314159);
  },
  async server_stream(client) {
    assert.deepEqual(await sizesOf(client.streamingOutputCall(outputs(...SIZES), soon())), SIZES);
  },
  async client_stream(client) {
    const total = await new Promise((resolve, reject) => {
      const call = client.streamingInputCall(soon(), (error, response) =>
        error ? reject(error) : resolve(response.aggregatedPayloadSize));
      for (const size of [27182, 8, 1828, 45904]) {
        call.write({payload: zeros(size)});
      }
      call.end();
    });
    assert.equal(total, 74922);
  },
  async ping_pong(client) {
    const call = client.fullDuplexCall(soon());
    for (const size of SIZES) {
      const answer = next(call);
      call.write(outputs(size));
      assert.equal((await answer).payload.body.length, size);
    }
    call.end();
    assert.deepEqual(await sizesOf(call), []);
  },
  async empty_stream(client) {
    const call = client.fullDuplexCall(soon());
    call.end();
    assert.deepEqual(await sizesOf(call), []);
  },
  async status_code_and_message(client) {
    const message = 'no such order: \tä❤😀\n100 %';
    const responseStatus = {code: grpc.status.NOT_FOUND, message};
    const error = await failsWith(grpc.status.NOT_FOUND, () => unary(client, 'unaryCall', {responseStatus}));
    assert.equal(error.details, message);
  },
  async custom_metadata(client) {
    const sent = new grpc.Metadata();
    sent.set('x-grpc-test-echo-initial', 'first');
    sent.set('x-grpc-test-echo-trailing-bin', Buffer.from([0, 0xab, 0xff]));
    const {headers, trailers} = await unary(client, 'unaryCall', {responseSize: 1}, sent);
    assert.deepEqual(headers.get('x-grpc-test-echo-initial'), ['first']);
    assert.deepEqual(trailers.get('x-grpc-test-echo-trailing-bin'), [Buffer.from([0, 0xab, 0xff])]);
  },
  async deadline(client) {
    const request = {responseParameters: [{size: 1, intervalUs: 30_000_000}]};
    await failsWith(grpc.status.DEADLINE_EXCEEDED, () =>
      sizesOf(client.streamingOutputCall(request, {deadline: Date.now() + 200})));
  },
  async cancel_after_first_response(client) {
    const call = client.fullDuplexCall(soon());
    const answer = next(call);
    call.write(outputs(31415));
    assert.equal((await answer).payload.body.length, 31415);
    call.cancel();
    await failsWith(grpc.status.CANCELLED, () => sizesOf(call));
  },
  async unimplemented_method(client) {
    await failsWith(grpc.status.UNIMPLEMENTED, () => unary(client, 'unimplementedCall', {}));
  },
  async many_at_once(client) {
    const calls = Array.from({length: 200}, () => unary(client, 'unaryCall', {responseSize: 1000}));
    for (const {response} of await Promise.all(calls)) {
      assert.equal(response.payload.body.length, 1000);
    }
  },
  async flow_control(client) {
    // The client slowly reads many more bytes than the flow-control windows allow at once.
    const sizes = Array.from({length: 64}, () => 65_536);
    const received = [];
    for await (const message of client.streamingOutputCall(outputs(...sizes), soon())) {
      received.push(message.payload.body.length);
      await new Promise(setImmediate);
    }
    assert.deepEqual(received, sizes);
  },
};

async function main() {
  const client = new TestService(address, grpc.credentials.createInsecure());
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run(client);
      console.log('ok', name);
    } catch (failure) {
      console.log('failed', name, String(failure.message).replace(/\s+/g, ' '));
    }
  }
  client.close();
}

main();
