package tern.rpc.serialization;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The JSON codec for arguments and result of one method (docs/wire-protocol.md 4.2). Thread-safe. Nothing is resolved
 * per call. A request message of a stream is encoded like a single argument, a response message like the result.
 *
 * <p>Decoding throws {@link SerializationException} with the parameter, the path inside it and
 * the expected type, never with a value. Encoding throws the same, and {@link
 * MessageTooLargeException}; the buffer is then unchanged.
 */
public interface JsonMethod {

    /** Warnings for the start-up, one sentence each: unknown parameter names, and types that JSON does not support. */
    List<String> warnings();

    /**
     * Decodes the arguments from a body. A method without parameters ignores it. With one parameter, the body is its
     * value; or an array with this value, unless the type is itself an array; or, for a scalar, an object whose only
     * member has the parameter's name. With several parameters, the body is an array of all values, or an object by
     * name, in which missing ones are null. An empty body is an error; if there is a query, use that instead.
     *
     * @param strict whether the body must be the value of the only parameter, as in Connect
     */
    @Nullable
    Object[] readArguments(byte[] json, int offset, int length, boolean strict);

    /**
     * Decodes the arguments from query parameters or a form, by name. Several values of a name fill a list. A bean or
     * map is JSON text under its own name; otherwise it consists of all parameters that are not names of arguments.
     * Missing arguments are null.
     *
     * @param parameters the decoded parameters, each with its values in order
     */
    @Nullable
    Object[] readQuery(Map<String, List<String>> parameters);

    /**
     * Encodes a request for {@link #readArguments} and Dubbo 3.3.6: the value of one parameter, or an array of several.
     * A method without parameters sends an empty object, which is Connect's empty message.
     */
    void writeArguments(@Nullable Object[] arguments, OutputBuffer out);

    /**
     * Decodes a result, or one message of a stream of answers. For {@code void} it returns null and ignores the body.
     */
    @Nullable
    Object readResult(byte[] json, int offset, int length);

    /** Encodes a result, or one message of a stream of answers. Null and {@code void} become {@code null}. */
    void writeResult(@Nullable Object value, OutputBuffer out);
}
