package tern.rpc.netty.peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.security.GeneralSecurityException;
import java.security.cert.Certificate;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.TestAuthority;
import tern.rpc.transport.TestAuthority.Identity;

/** A client socket that sends and reads frames over Java's TLS. */
public final class TlsSocket implements AutoCloseable {

    private final SSLSocket socket;
    private final RawSocket frames;

    /**
     * Connects to the port and completes the TLS handshake.
     *
     * @param own the certificate of the client; null for no certificate
     */
    public TlsSocket(int port, TestAuthority trusted, @Nullable Identity own, String... applicationProtocols)
            throws IOException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            KeyManager[] keys = own == null ? new KeyManager[0] : own.keys().getKeyManagers();
            context.init(keys, trusted.trust().getTrustManagers(), null);
            socket = (SSLSocket) context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port);
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
        frames = new RawSocket(socket);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(applicationProtocols);
        socket.setSSLParameters(parameters);
        socket.startHandshake();
    }

    public RawSocket frames() {
        return frames;
    }

    /**
     * Returns the application protocol that the server selected in ALPN negotiation; an empty string if it selected
     * none.
     */
    public String applicationProtocol() {
        return socket.getApplicationProtocol();
    }

    public Certificate certificate() {
        try {
            return socket.getSession().getPeerCertificates()[0];
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        frames.close();
    }
}
