package tern.rpc.netty;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.BiFunction;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * A TLS engine that limits records without application data and additional handshakes. The engine never blocks the
 * event loop while another thread computes a part of the handshake. Java's engine holds its lock during such a
 * computation, so a peer that begins handshakes and then closes the connections could block the event loop. Java's
 * engine does all other work. Only this class can count the records: in TLS 1.3, the type of a record is encrypted, and
 * Netty's handler joins the data of several records.
 */
final class LimitedTlsEngine extends SSLEngine {

    private final SSLEngine engine;
    private final TlsRecordLimit limit;
    private final Object closing = new Object();
    // true while another thread computes a part of the handshake; guarded by the lock "closing"
    private boolean computes;
    // true if the outbound side was closed during a computation; guarded by the lock "closing"
    private boolean outboundCloses;
    // true if the inbound side was closed during a computation; guarded by the lock "closing"
    private boolean inboundCloses;
    private volatile boolean gone; // true after the connection has been closed
    private boolean limited; // true after the first handshake if its TLS version is 1.2 or later
    private boolean mayRenegotiate; // true after the first handshake if the TLS version permits additional handshakes
    private boolean renegotiates; // true during an additional handshake

    LimitedTlsEngine(SSLEngine engine, TlsRecordLimit limit) {
        this.engine = engine;
        this.limit = limit;
    }

    private SSLEngineResult wrapped(SSLEngineResult result) {
        if (result.getHandshakeStatus() == HandshakeStatus.FINISHED) {
            handshakeEnds();
        }
        return result;
    }

    private SSLEngineResult unwrapped(SSLEngineResult result) throws SSLException {
        if (limited && result.bytesConsumed() > 0 && result.bytesProduced() == 0) {
            limit.count();
            if (mayRenegotiate && !renegotiates && result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
                renegotiates = true;
                limit.renegotiated();
            }
        }
        return wrapped(result);
    }

    private void handshakeEnds() {
        renegotiates = false;
        String version = engine.getSession().getProtocol();
        mayRenegotiate = version.equals("TLSv1.2");
        // Records are not limited before TLS 1.2, because clients then send an empty record before each record with
        // data.
        limited = mayRenegotiate || version.equals("TLSv1.3");
    }

    @Override
    public SSLEngineResult wrap(ByteBuffer source, ByteBuffer target) throws SSLException {
        return wrapped(engine.wrap(source, target));
    }

    @Override
    public SSLEngineResult wrap(ByteBuffer[] sources, ByteBuffer target) throws SSLException {
        return wrapped(engine.wrap(sources, target));
    }

    @Override
    public SSLEngineResult wrap(ByteBuffer[] sources, int offset, int length, ByteBuffer target) throws SSLException {
        return wrapped(engine.wrap(sources, offset, length, target));
    }

    @Override
    public SSLEngineResult unwrap(ByteBuffer source, ByteBuffer target) throws SSLException {
        return unwrapped(engine.unwrap(source, target));
    }

    @Override
    public SSLEngineResult unwrap(ByteBuffer source, ByteBuffer[] targets) throws SSLException {
        return unwrapped(engine.unwrap(source, targets));
    }

    @Override
    public SSLEngineResult unwrap(ByteBuffer source, ByteBuffer[] targets, int offset, int length) throws SSLException {
        return unwrapped(engine.unwrap(source, targets, offset, length));
    }

    @Override
    public @Nullable String getPeerHost() {
        return engine.getPeerHost();
    }

    @Override
    public int getPeerPort() {
        return engine.getPeerPort();
    }

    @Override
    public @Nullable Runnable getDelegatedTask() {
        Runnable task = gone ? null : engine.getDelegatedTask();
        return task == null ? null : () -> compute(task);
    }

    private void compute(Runnable task) {
        synchronized (closing) {
            computes = true;
        }
        try {
            task.run();
        } finally {
            computed();
        }
    }

    /** Closes the sides that the event loop has tried to close during the computation. */
    private void computed() {
        boolean outbound;
        boolean inbound;
        synchronized (closing) {
            computes = false;
            outbound = outboundCloses;
            inbound = inboundCloses;
        }
        if (outbound) {
            engine.closeOutbound();
        }
        if (inbound) {
            try {
                engine.closeInbound();
            } catch (SSLException e) {
                // the peer has closed the connection during the handshake
            }
        }
    }

    /**
     * Closes the inbound side. If another thread is computing a part of the handshake, the side is closed when the
     * computation ends.
     */
    @Override
    public void closeInbound() throws SSLException {
        gone = true;
        synchronized (closing) {
            if (computes) {
                inboundCloses = true;
                return;
            }
            engine.closeInbound(); // a new computation cannot start before this lock has been released
        }
    }

    @Override
    public boolean isInboundDone() {
        return engine.isInboundDone();
    }

    /**
     * Closes the outbound side. If another thread is computing a part of the handshake, the side is closed when the
     * computation ends.
     */
    @Override
    public void closeOutbound() {
        synchronized (closing) {
            if (computes) {
                outboundCloses = true;
                return;
            }
            engine.closeOutbound(); // a new computation cannot start before this lock has been released
        }
    }

    @Override
    public boolean isOutboundDone() {
        return engine.isOutboundDone();
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return engine.getSupportedCipherSuites();
    }

    @Override
    public String[] getEnabledCipherSuites() {
        return engine.getEnabledCipherSuites();
    }

    @Override
    public void setEnabledCipherSuites(String[] suites) {
        engine.setEnabledCipherSuites(suites);
    }

    @Override
    public String[] getSupportedProtocols() {
        return engine.getSupportedProtocols();
    }

    @Override
    public String[] getEnabledProtocols() {
        return engine.getEnabledProtocols();
    }

    @Override
    public void setEnabledProtocols(String[] protocols) {
        engine.setEnabledProtocols(protocols);
    }

    @Override
    public SSLSession getSession() {
        return engine.getSession();
    }

    @Override
    public @Nullable SSLSession getHandshakeSession() {
        return engine.getHandshakeSession();
    }

    @Override
    public void beginHandshake() throws SSLException {
        engine.beginHandshake();
    }

    @Override
    public HandshakeStatus getHandshakeStatus() {
        return engine.getHandshakeStatus();
    }

    @Override
    public void setUseClientMode(boolean client) {
        engine.setUseClientMode(client);
    }

    @Override
    public boolean getUseClientMode() {
        return engine.getUseClientMode();
    }

    @Override
    public void setNeedClientAuth(boolean need) {
        engine.setNeedClientAuth(need);
    }

    @Override
    public boolean getNeedClientAuth() {
        return engine.getNeedClientAuth();
    }

    @Override
    public void setWantClientAuth(boolean want) {
        engine.setWantClientAuth(want);
    }

    @Override
    public boolean getWantClientAuth() {
        return engine.getWantClientAuth();
    }

    @Override
    public void setEnableSessionCreation(boolean enable) {
        engine.setEnableSessionCreation(enable);
    }

    @Override
    public boolean getEnableSessionCreation() {
        return engine.getEnableSessionCreation();
    }

    @Override
    public SSLParameters getSSLParameters() {
        return engine.getSSLParameters();
    }

    @Override
    public void setSSLParameters(SSLParameters parameters) {
        engine.setSSLParameters(parameters);
    }

    @Override
    public @Nullable String getApplicationProtocol() {
        return engine.getApplicationProtocol();
    }

    @Override
    public @Nullable String getHandshakeApplicationProtocol() {
        return engine.getHandshakeApplicationProtocol();
    }

    @Override
    public void setHandshakeApplicationProtocolSelector(BiFunction<SSLEngine, List<String>, String> selector) {
        engine.setHandshakeApplicationProtocolSelector(selector);
    }

    @Override
    public @Nullable BiFunction<SSLEngine, List<String>, String> getHandshakeApplicationProtocolSelector() {
        return engine.getHandshakeApplicationProtocolSelector();
    }
}
