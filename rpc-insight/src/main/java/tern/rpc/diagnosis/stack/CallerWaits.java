package tern.rpc.diagnosis.stack;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes threads waiting for the caller of a web request, because the caller sends the request or reads the answer
 * slowly.
 */
public final class CallerWaits {

    /** The name of the wait for the part of a request that the caller has not sent yet. */
    public static final String REQUEST = "request";

    /** The name of the wait until the caller has read a part of the answer. */
    static final String ANSWER = "answer";

    /** The class in which Tomcat waits until an HTTP/2 client accepts more bytes. */
    private static final String WINDOW = "org.apache.coyote.http2.WindowAllocationManager";

    /** The class-name prefixes of the code in which Tomcat waits for its clients. */
    private static final List<String> TOMCAT = List.of(
            "org.apache.tomcat.util.net.NioEndpoint$NioSocketWrapper",
            "org.apache.tomcat.util.net.Nio2Endpoint$Nio2SocketWrapper",
            "org.apache.coyote.http2.Stream$",
            WINDOW);

    private static final String JETTY = "org.eclipse.jetty.";
    private static final String JETTY_CLIENT = "org.eclipse.jetty.client.";

    private CallerWaits() {}

    /**
     * If the thread waits until the caller sends more of the request or reads more of the answer, returns this wait;
     * otherwise null.
     */
    public static @Nullable Part of(ThreadSnapshot thread) {
        if (thread.state() == Thread.State.RUNNABLE) {
            return null;
        }
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (ApplicationCode.owns(type) || type.startsWith(JETTY_CLIENT)) {
                return null;
            }
            if (TOMCAT.stream().anyMatch(type::startsWith)) {
                boolean writes = type.equals(WINDOW)
                        || frame.getMethodName().toLowerCase(Locale.ROOT).contains("write");
                return new Part(Kind.CALLER, writes ? ANSWER : REQUEST);
            }
            if (type.startsWith(JETTY) && type.endsWith(".HttpOutput")) {
                return new Part(Kind.CALLER, ANSWER);
            }
            if (type.startsWith(JETTY) && type.endsWith(".HttpInput")) {
                return new Part(Kind.CALLER, REQUEST);
            }
        }
        return null;
    }
}
