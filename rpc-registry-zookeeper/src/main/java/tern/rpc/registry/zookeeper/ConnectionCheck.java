package tern.rpc.registry.zookeeper;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception;
import org.apache.zookeeper.common.ZKConfig;

/**
 * Determines why a ZooKeeper server cannot be reached, by opening a separate connection. The check is needed because
 * the ZooKeeper client only reports that the connection was lost, even if TLS is the cause.
 *
 * @param servers the servers of the registry, not resolved; not empty
 * @param isTls whether the client uses TLS
 * @param config the configuration of the client, with its TLS settings
 */
record ConnectionCheck(List<InetSocketAddress> servers, boolean isTls, ZKConfig config, int timeoutMillis) {

    /** The time to wait, after the handshake, for the server to reject the client's certificate. */
    private static final int REFUSAL_MILLIS = 500;

    /**
     * Returns the reason why no connection to the first server can be opened, as text that can follow a colon. Returns
     * an empty string if a connection to at least one of the servers can be opened now. Blocks for at most about three
     * times the timeout for each server.
     */
    String cause() {
        String first = "";
        for (InetSocketAddress server : servers) {
            String cause = cause(server);
            if (cause.isEmpty()) {
                return "";
            }
            first = first.isEmpty() ? cause : first;
        }
        return first;
    }

    private String cause(InetSocketAddress server) {
        String name = server.getHostString() + ":" + server.getPort();
        try (Socket socket = new Socket()) {
            InetSocketAddress address = new InetSocketAddress(server.getHostString(), server.getPort());
            socket.connect(address, timeoutMillis);
            socket.setSoTimeout(timeoutMillis);
            return isTls ? causeWithTls(name, server, socket) : causeWithoutTls(name, server, socket);
        } catch (IOException e) {
            return name + " cannot be reached: " + e.getMessage();
        }
    }

    private String causeWithTls(String name, InetSocketAddress server, Socket socket) {
        try {
            SSLSocket secure = handshake(context(), server, socket, isNameChecked());
            return isRefused(secure) ? name + " refuses the certificate of this client, or requires one" : "";
        } catch (X509Exception e) {
            return "the TLS settings cannot be used: " + innermost(e);
        } catch (IOException e) {
            return isNoTls(e)
                    ? name + " does not answer in TLS; use its secureClientPort, or remove ssl=true and ssl.bundle"
                    : "TLS with " + name + " fails: " + innermost(e);
        }
    }

    /**
     * Returns whether the server closes the connection after the handshake. With TLS 1.3, a server checks client
     * certificates only after the handshake.
     */
    private static boolean isRefused(SSLSocket secure) throws IOException {
        secure.setSoTimeout(REFUSAL_MILLIS);
        try {
            return secure.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false; // The read timed out: the server has accepted the connection and waits for the first message.
        } catch (IOException e) {
            return true;
        }
    }

    private boolean isNameChecked() {
        try (ClientX509Util names = new ClientX509Util()) {
            return config.getBoolean(names.getSslHostnameVerificationEnabledProperty(), true);
        }
    }

    /** Tries a TLS handshake. A server that answers the handshake does not accept plain text on this port. */
    private String causeWithoutTls(String name, InetSocketAddress server, Socket socket) {
        try {
            handshake(SSLContext.getDefault(), server, socket, false);
        } catch (NoSuchAlgorithmException e) {
            return "";
        } catch (IOException e) {
            if (isNoTls(e)) {
                return "";
            }
        }
        return name + " answers only in TLS; add ssl=true or ssl.bundle=... to the address of the registry";
    }

    private SSLContext context() throws X509Exception {
        try (ClientX509Util util = new ClientX509Util()) {
            return util.createSSLContext(config);
        }
    }

    private SSLSocket handshake(SSLContext context, InetSocketAddress server, Socket socket, boolean nameChecked)
            throws IOException {
        SSLSocket secure = (SSLSocket)
                context.getSocketFactory().createSocket(socket, server.getHostString(), server.getPort(), true);
        if (nameChecked) {
            SSLParameters parameters = secure.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            secure.setSSLParameters(parameters);
        }
        secure.startHandshake();
        return secure;
    }

    /** Returns whether the peer did not answer the first TLS message, or answered with something other than TLS. */
    private static boolean isNoTls(IOException failure) {
        return !(failure instanceof SSLException)
                || failure.getCause() instanceof EOFException
                || (!(failure instanceof SSLHandshakeException)
                        && String.valueOf(failure.getMessage()).contains("Unsupported or unrecognized"));
    }

    private static String innermost(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return String.valueOf(cause.getMessage());
    }
}
