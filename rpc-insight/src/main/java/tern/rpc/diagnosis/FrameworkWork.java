package tern.rpc.diagnosis;

import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes the work that a web framework or Tern's server does for a call without running application code,
 * such as reading a request from JSON. This work is spread over many methods of libraries, so it needs one common name.
 */
final class FrameworkWork {

    /** The name of the work that reads the bodies of requests. */
    static final String READING = "reading of requests";

    /** The name of the work that writes the bodies of answers. */
    static final String WRITING = "writing of answers";

    /** The name of the work that renders views, such as HTML pages. */
    static final String RENDERING = "rendering of views";

    private static final String READS = "readWithMessageConverters";
    private static final String WRITES = "writeWithMessageConverters";
    private static final String DISPATCHER = "org.springframework.web.servlet.DispatcherServlet";

    /** The method of Tern's server that encodes and sends the answer of a call. */
    private static final String SERVED_CALL = "tern.rpc.server.ServedCall";

    private static final String ANSWERS = "answer";

    private FrameworkWork() {}

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
            // A filter's frame counts as work only if the filter has not called the rest of its chain.
            boolean isFilter =
                    type.endsWith("Filter") && method.startsWith("doFilter") && !inner.startsWith("doFilter");
            if (isFilter || isBody(method) || type.equals(DISPATCHER) || isAnswer(stack[i])) {
                return i;
            }
            inner = ThreadSnapshot.isPlatform(type) ? inner : method;
        }
        return -1;
    }

    private static boolean isBody(String method) {
        return method.equals(READS) || method.equals(WRITES);
    }

    private static boolean isAnswer(StackTraceElement frame) {
        return frame.getClassName().equals(SERVED_CALL) && frame.getMethodName().equals(ANSWERS);
    }

    /** Returns the name of the framework's work to which the given stack frame belongs. */
    static String name(StackTraceElement frame) {
        if (isAnswer(frame)) {
            return WRITING;
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
    static boolean isOfBodies(Part part) {
        return part.kind() == Part.Kind.COMPUTING
                && (part.name().equals(READING) || part.name().equals(WRITING));
    }
}
