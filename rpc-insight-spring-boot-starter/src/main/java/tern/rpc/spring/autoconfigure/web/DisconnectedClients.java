package tern.rpc.spring.autoconfigure.web;

import java.io.IOException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Recognizes the exceptions that web servers throw because the client has closed its connection. */
final class DisconnectedClients {

    /** The simple names of the exceptions of Tomcat, Spring MVC and Reactor Netty. */
    private static final Set<String> LEFT =
            Set.of("ClientAbortException", "AsyncRequestNotUsableException", "AbortedException");

    /**
     * The prefix of the class names of Jetty's exceptions. The stack must also show that the server was writing,
     * because Jetty's HTTP client throws the same exceptions.
     */
    private static final String JETTY = "org.eclipse.jetty.";

    /** The simple names of the classes that Tomcat and Jetty use to write an answer. */
    private static final Set<String> OUTPUTS = Set.of("OutputBuffer", "CoyoteOutputStream", "HttpOutput");

    /**
     * The names of exceptions that HTTP clients throw. The cause of such an exception concerns a connection to another
     * server.
     */
    private static final Set<String> CLIENTS = Set.of("RestClientException", "WebClientException", "FeignException");

    private static final int MAX_CAUSES = 8;
    private static final int MAX_FRAMES = 12;

    private DisconnectedClients() {}

    /** Returns whether the request failed only because its client has disconnected. */
    static boolean caused(@Nullable Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
            if (isOfHttpClient(cause)) {
                return false;
            }
            if (isOne(cause)) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    private static boolean isOne(Throwable failure) {
        String name = failure.getClass().getSimpleName();
        boolean eof =
                name.equals("EofException") && failure.getClass().getName().startsWith(JETTY);
        return eof || LEFT.contains(name) || (failure instanceof IOException && isThrownByOutput(failure));
    }

    private static boolean isThrownByOutput(Throwable failure) {
        StackTraceElement[] frames = failure.getStackTrace();
        for (int i = 0; i < frames.length && i < MAX_FRAMES; i++) {
            String type = frames[i].getClassName();
            if (OUTPUTS.contains(type.substring(type.lastIndexOf('.') + 1))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOfHttpClient(Throwable failure) {
        for (Class<?> type = failure.getClass(); type != null; type = type.getSuperclass()) {
            if (CLIENTS.contains(type.getSimpleName())) {
                return true;
            }
        }
        return false;
    }
}
