package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.GeneralSecurityException;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.Tls;

/** Tests that a connection is closed when its peer ends the TLS session but leaves the socket open. */
class EndedTlsSessionsTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("authority");

    private @Nullable EmbeddedTls opened;

    @AfterEach
    void close() {
        if (opened != null) {
            opened.close();
        }
    }

    private EmbeddedTls peer(boolean isClient) throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        KeyManager[] keys = isClient
                ? new KeyManager[0]
                : AUTHORITY.issue("server", "127.0.0.1").keys().getKeyManagers();
        context.init(keys, AUTHORITY.trust().getTrustManagers(), null);
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(isClient);
        EmbeddedTls peer = new EmbeddedTls(engine);
        opened = peer;
        return peer;
    }

    private static void assertClosedWithTheSession(EmbeddedTls side, String version) throws Exception {
        side.connect(version);
        side.send(new byte[10]);
        assertThat(side.channel.isOpen()).isTrue();

        side.endSession();

        assertThat(side.received()).as("bytes before the end").isEqualTo(10);
        assertThat(side.channel.isOpen()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void clientClosesAConnectionWhoseServerEndsTheSession(String version) throws Exception {
        Tls tls = Tls.named("bundle 'client'").withTrust(AUTHORITY.trust()).withProtocols(List.of(version));
        EmbeddedTls client = peer(false);
        client.add(TlsContext.ofClient(() -> tls, List.of())
                .newHandler(client.channel, new Endpoint("127.0.0.1", 1), closing -> {}));

        assertClosedWithTheSession(client, version);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void serverClosesAConnectionWhoseClientEndsTheSession(String version) throws Exception {
        Tls tls = Tls.named("bundle 'server'")
                .withKeys(AUTHORITY.issue("server", "127.0.0.1").keys())
                .withProtocols(List.of(version));
        EmbeddedTls server = peer(true);
        server.add(TlsContext.ofServer(() -> tls).newHandler(server.channel, Runnable::run, closing -> {}));

        assertClosedWithTheSession(server, version);
    }
}
