package tern.rpc.netty.triple;

import tern.rpc.netty.peer.ContractTransports;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tools.jackson.databind.json.JsonMapper;

/** Creates the transports for the contract tests of this package. */
final class HttpTransports {

    private HttpTransports() {}

    static ContractTransports http2() {
        TripleCodecs codecs = new TripleCodecs(HessianSerializer.builder().build(), null, 0);
        return new ContractTransports(new TripleProtocol(codecs), new TripleClientProtocol(codecs));
    }

    static ContractTransports http1() {
        TripleCodecs codecs = new TripleCodecs(
                HessianSerializer.builder().build(),
                new JsonCodec(JsonMapper.builder().build()),
                0);
        return new ContractTransports(
                new Http1Protocol(codecs, HttpSettings.defaults()), new Http1ClientProtocol(codecs));
    }
}
