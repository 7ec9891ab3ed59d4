package tern.rpc.spring.autoconfigure.pool;

import org.jspecify.annotations.Nullable;

/** Reads the size of an answer's body from its header. */
final class BodyLength {

    static final String HEADER = "Content-Length";

    private static final int MAX_DIGITS = 15;

    private BodyLength() {}

    /**
     * Returns the number of bytes that the header states; -1 if the answer has no body, if there is no header, or if its
     * value is not a number.
     *
     * @param method the method of the request
     */
    static long of(String method, int status, @Nullable String header) {
        return hasBody(method, status)
                        && header != null
                        && !header.isEmpty()
                        && header.length() <= MAX_DIGITS
                        && header.chars().allMatch(digit -> digit >= '0' && digit <= '9')
                ? Long.parseLong(header)
                : -1;
    }

    /** Returns whether a successful answer to the request may have a body. The bodies of errors are not measured. */
    static boolean hasBody(String method, int status) {
        return status >= 200 && status < 300 && !method.equals("HEAD");
    }
}
