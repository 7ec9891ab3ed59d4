package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.NanoClock;

class LimitedTlsEngineTest {

    private static final int BUFFER_BYTES = 1 << 16;

    private final CountDownLatch computing = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Keys keys = new Keys();

    /**
     * A key manager without keys. The TLS engine asks it for a key during the computation. The key manager then blocks
     * until the connection has been closed.
     */
    private final class Keys extends X509ExtendedKeyManager {

        private volatile boolean waited;

        @Override
        public @Nullable String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
            computing.countDown();
            try {
                waited = closed.await(10, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return null;
        }

        @Override
        public String @Nullable [] getClientAliases(String type, Principal[] issuers) {
            return null;
        }

        @Override
        public @Nullable String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
            return null;
        }

        @Override
        public String @Nullable [] getServerAliases(String type, Principal[] issuers) {
            return null;
        }

        @Override
        public @Nullable String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            return null;
        }

        @Override
        public X509Certificate @Nullable [] getCertificateChain(String alias) {
            return null;
        }

        @Override
        public @Nullable PrivateKey getPrivateKey(String alias) {
            return null;
        }
    }

    /** Returns a server's engine that has received the first message of a client's handshake. */
    private SSLEngine afterHello() throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {keys}, null, null);
        SSLEngine java = context.createSSLEngine();
        java.setUseClientMode(false);
        SSLEngine engine =
                new LimitedTlsEngine(java, new TlsRecordLimit(new EmbeddedChannel(), NanoClock.SYSTEM, 0, how -> {}));
        SSLEngine client = SSLContext.getDefault().createSSLEngine();
        client.setUseClientMode(true);
        ByteBuffer hello = ByteBuffer.allocate(BUFFER_BYTES);
        client.wrap(ByteBuffer.allocate(0), hello);
        engine.unwrap(hello.flip(), ByteBuffer.allocate(BUFFER_BYTES));
        return engine;
    }

    /** Java's engine holds its lock during a computation. */
    @Test
    void closeDuringAComputationDoesNotWaitForIt() throws Exception {
        SSLEngine engine = afterHello();
        Thread computation = new Thread(Objects.requireNonNull(engine.getDelegatedTask()));
        computation.start();
        computing.await();

        engine.closeOutbound();
        engine.closeInbound();

        closed.countDown();
        computation.join();
        assertThat(keys.waited).as("the computation ended after the close").isTrue();
        assertThat(engine.isInboundDone()).isTrue();
    }

    @Test
    void nothingIsComputedForAClosedConnection() throws Exception {
        SSLEngine engine = afterHello();
        try {
            engine.closeInbound();
        } catch (SSLException e) {
            // the client has not closed its side of the connection
        }

        assertThat(engine.getDelegatedTask()).isNull();
    }
}
