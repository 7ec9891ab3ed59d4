package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.Token;

/**
 * Tests which memory budget counts the first request on a connection. All unauthenticated callers share a small budget,
 * which a few callers can use up.
 */
class HeaderTokenMemoryTest {

    private static final String PATH = "/" + Words.class.getName() + "/write";
    private static final int PART = 8_000;

    /** The first half of a message of twice {@link #PART} bytes. The second half does not arrive. */
    private static final byte[] HALF_MESSAGE = new byte[PART];

    static {
        HALF_MESSAGE[3] = (byte) ((2 * PART) >>> 8);
        HALF_MESSAGE[4] = (byte) (2 * PART);
    }

    private static void afterHalfARequest(Consumer<RpcServer.Builder> checks, Consumer<EmbeddedServer.Peer> then)
            throws Exception {
        byte[] request = Http2Wire.bytesOf(wire -> {
            wire.request(1, PATH, false, "authorization", "Bearer let-me-in");
            wire.frame(Http2Wire.DATA, 0, 1, HALF_MESSAGE);
        });
        try (TripleSides sides = new TripleSides();
                EmbeddedServer server = new EmbeddedServer(sides.protocols(), builder -> {
                    builder.export(ServiceExport.of(Words.class, new WordsServer()));
                    checks.accept(builder);
                });
                EmbeddedServer.Peer peer = server.connect()) {
            peer.send(request, 0, request.length);
            then.accept(peer);
        }
    }

    @Test
    void callerWhoseTokenIsAcceptedWithTheHeadersMayUseTheFullBudget() throws Exception {
        afterHalfARequest(builder -> builder.token(Token.of("let-me-in")), peer -> {
            assertThat(peer.requestBytes()).isGreaterThanOrEqualTo(PART - 5);
            assertThat(peer.strangersBytes()).isZero();
        });
    }

    @Test
    void callerWithATokenIsUnknownUntilTheAuthorizersAllowItsCall() throws Exception {
        afterHalfARequest(builder -> builder.token(Token.of("let-me-in")).authorizer(call -> null), peer -> {
            assertThat(peer.requestBytes()).isZero();
            assertThat(peer.strangersBytes()).isGreaterThanOrEqualTo(PART - 5);
        });
    }
}
