package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.peer.SmallCalls;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tools.jackson.databind.json.JsonMapper;

/**
 * Checks that client and server together allocate little heap memory for a small call. The limit is about 1.5 times the
 * measured value.
 */
class BytesPerCallTest {

    @ParameterizedTest
    @CsvSource({"tri, 5000", "http, 8500"})
    void aSmallCallAllocatesLittle(String protocol, long mostBytes) {
        TripleCodecs codecs = new TripleCodecs(
                HessianSerializer.builder().build(),
                new JsonCodec(JsonMapper.builder().build()),
                0);
        ClientProtocol wire =
                protocol.equals("tri") ? new TripleClientProtocol(codecs) : new Http1ClientProtocol(codecs);

        long bytes = SmallCalls.allocatedBytes(
                List.of(
                        new TripleProtocol(codecs, HttpSettings.defaults()),
                        new Http1Protocol(codecs, HttpSettings.defaults())),
                wire);

        assertThat(bytes).isLessThan(mostBytes);
    }
}
