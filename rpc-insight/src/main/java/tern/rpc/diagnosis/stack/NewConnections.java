package tern.rpc.diagnosis.stack;

import java.util.Set;
import java.util.function.Predicate;
import tern.rpc.pool.ApplicationCode;

/** Recognizes from a thread's stack that the thread is opening a connection. */
public final class NewConnections {

    /**
     * The name suffix of code that opens a database connection without a pool. The names of such code begin with {@link
     * StackReader#CALLED}.
     */
    public static final String OPENED = ", which opens a connection";

    /** The JDK classes that connect sockets. */
    private static final Set<String> SOCKETS = Set.of(
            "java.net.Socket",
            "sun.nio.ch.Net",
            "sun.nio.ch.NioSocketImpl",
            "sun.nio.ch.SocketChannelImpl",
            "sun.security.ssl.SSLSocketImpl");

    private static final String TLS = "sun.security.ssl.";

    private NewConnections() {}

    /** Returns whether the thread connects a socket or performs a TLS handshake. */
    public static boolean isOpening(ThreadSnapshot thread) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            String method = frame.getMethodName();
            if (application.test(type)) {
                return false;
            }
            boolean connects = SOCKETS.contains(type)
                    && (method.startsWith("connect") || method.endsWith("Connect") || method.equals("connect0"));
            boolean shakesHands = type.startsWith(TLS) && (method.endsWith("Handshake") || method.equals("kickstart"));
            if (connects || shakesHands) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether the thread opens a database connection because application code asked for one without a pool.
     *
     * @param isPool recognizes the classes of pools by their names
     */
    static boolean isOpeningWithoutPool(ThreadSnapshot thread, Predicate<String> isPool) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        boolean opens = false;
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            String method = frame.getMethodName();
            if (application.test(type)) {
                return opens;
            }
            if (isPool.test(type)) {
                return false;
            }
            opens |= type.equals("java.sql.DriverManager")
                    || (type.endsWith("Driver") && method.equals("connect"))
                    || (type.endsWith("DataSource") && method.startsWith("getConnection"));
        }
        return false;
    }
}
