package tern.rpc.diagnosis.stack;

import java.util.List;
import java.util.stream.Stream;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes the work that a web framework or Tern's server does for a call without running application code, such as
 * decoding a JSON request. This work is spread over many library methods, so it needs one common name.
 */
public final class FrameworkWork {

    /** The name of the work that reads the bodies of requests. */
    public static final String READING = "reading of requests";

    /** The name of the work that writes the bodies of answers. */
    public static final String WRITING = "writing of answers";

    /** The name of the work that renders views, such as HTML pages. */
    static final String RENDERING = "rendering of views";

    private static final String READS = "readWithMessageConverters";
    private static final String WRITES = "writeWithMessageConverters";
    private static final String DISPATCHER = "org.springframework.web.servlet.DispatcherServlet";

    /** The package prefixes of WebFlux's codecs for bodies. */
    private static final List<String> CODECS =
            List.of("org.springframework.http.codec.", "org.springframework.core.codec.");

    /** The package prefix of the HTTP client whose threads read the answers of other services. */
    private static final String CLIENT = "reactor.netty.http.client.";

    /** The method of Tern's server that encodes and sends a call's answer. */
    private static final String SERVED_CALL = "tern.rpc.server.ServedCall";

    private static final String ANSWERS = "answer";

    /**
     * The package prefixes of code that only leads from the framework's entry point to the code that does the work,
     * such as the code that validates arguments.
     */
    private static final List<String> GLUE = List.of(
            "org.springframework.web.",
            "org.springframework.security.",
            "org.springframework.aop.",
            "org.springframework.boot.",
            "org.springframework.beans.",
            "org.springframework.core.",
            "org.springframework.util.",
            "org.apache.catalina.",
            "jakarta.");

    private FrameworkWork() {}

    /**
     * Returns whether the class only passes calls on to the code that does the framework's work. The name of such a
     * class does not show which work takes the time.
     */
    static boolean isGlue(String type) {
        return ThreadSnapshot.isPlatform(type) || GLUE.stream().anyMatch(type::startsWith);
    }

    /**
     * Returns the index of the innermost frame on the given stack that belongs to work of the framework; -1 if there is
     * none.
     *
     * @param stack the frames, the innermost first
     */
    static int indexIn(StackTraceElement[] stack) {
        String inner = "";
        for (int i = 0; i < stack.length; i++) {
            String type = stack[i].getClassName();
            String method = stack[i].getMethodName();
            // A filter's frame counts as work only if the filter has not called the next filter of its chain.
            boolean isFilter =
                    type.endsWith("Filter") && method.startsWith("doFilter") && !inner.startsWith("doFilter");
            if (isFilter || isBody(method) || type.equals(DISPATCHER) || isAnswer(stack[i]) || isCodec(stack, i)) {
                return i;
            }
            inner = ThreadSnapshot.isPlatform(type) ? inner : method;
        }
        return -1;
    }

    private static boolean isBody(String method) {
        return method.equals(READS) || method.equals(WRITES);
    }

    /**
     * Returns whether the frame belongs to a codec of WebFlux that writes an answer or reads a request. The same codecs
     * also read the answers of other services. Reading these answers is the application's work, because the application
     * requested them.
     */
    private static boolean isCodec(StackTraceElement[] stack, int index) {
        String name = bodyOfCodec(stack[index]);
        if (name.equals(READING)) {
            return Stream.of(stack).noneMatch(frame -> frame.getClassName().startsWith(CLIENT));
        }
        return name.equals(WRITING);
    }

    private static String bodyOfCodec(StackTraceElement frame) {
        if (CODECS.stream().noneMatch(frame.getClassName()::startsWith)) {
            return "";
        }
        String method = ApplicationCode.method(frame);
        String simple = method.substring(method.lastIndexOf('.') + 1);
        return simple.startsWith("encode") ? WRITING : simple.startsWith("decode") ? READING : "";
    }

    private static boolean isAnswer(StackTraceElement frame) {
        return frame.getClassName().equals(SERVED_CALL) && frame.getMethodName().equals(ANSWERS);
    }

    /** Returns whether the framework reads the body of a request or writes the body of an answer in the given frame. */
    static boolean isOfBody(StackTraceElement frame) {
        return isBody(frame.getMethodName())
                || isAnswer(frame)
                || !bodyOfCodec(frame).isEmpty();
    }

    /** Returns the name of the framework's work that the given stack frame belongs to. */
    static String name(StackTraceElement frame) {
        if (isAnswer(frame)) {
            return WRITING;
        }
        String body = bodyOfCodec(frame);
        if (!body.isEmpty()) {
            return body;
        }
        return switch (frame.getMethodName()) {
            case READS -> READING;
            case WRITES -> WRITING;
            case "render" -> RENDERING;
            default -> ApplicationCode.method(frame);
        };
    }

    /**
     * Returns whether the given activity of a call is the work of a framework that reads the request body or writes the
     * answer.
     */
    public static boolean isOfBodies(Part part) {
        return part.kind() == Part.Kind.COMPUTING
                && (part.name().equals(READING) || part.name().equals(WRITING));
    }
}
