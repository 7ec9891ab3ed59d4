package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.PbServer;
import com.example.wire.PbService;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.server.ServiceExport;

/** Tests that an unexpected exception closes its connection, and that Netty does not log each of these exceptions. */
class FailingHandlersTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0",
                "POST /a/b HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n"
            })
    void unexpectedExceptionClosesTheConnection(String firstBytes) throws Exception {
        RpcException unexpected = RpcException.refusal(StatusCode.UNAVAILABLE, "injected", Executed.NO);
        try (TripleSides sides = new TripleSides();
                CapturedLog netty = new CapturedLog("io.netty");
                EmbeddedServer server = new EmbeddedServer(
                        sides.protocols(),
                        exports -> exports.export(ServiceExport.of(PbService.class, new PbServer())))) {
            for (Throwable cause : List.of(unexpected, new IOException("reset"))) {
                try (EmbeddedServer.Peer peer = server.connect()) {
                    byte[] bytes = firstBytes.getBytes(US_ASCII);
                    peer.send(bytes, 0, bytes.length);
                    peer.run();
                    assertThat(peer.isOpen()).isTrue();

                    peer.fails(cause);

                    assertThat(peer.isOpen()).as(cause.toString()).isFalse();
                }
            }
            assertThat(netty.lines()).isEmpty();
        }
    }
}
