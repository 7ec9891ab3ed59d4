package tern.rpc.serialization;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The JSON codec for the arguments and the result of one method (docs/wire-protocol.md 4.2). Thread-safe. All types are
 * resolved in advance, and not on each call. A stream's request messages are encoded like a single argument, and its
 * response messages like the result.
 *
 * <p>A method that fails to decode a message throws {@link SerializationException}. The exception's message contains
 * the parameter, the path inside the parameter and the expected type, but never a value. A method that fails to encode
 * a message throws {@link SerializationException} or {@link MessageTooLargeException} and leaves the buffer unchanged.
 */
public interface JsonMethod {

    /**
     * Returns the warnings to log at startup, one sentence each: unknown parameter names, and types that JSON does not
     * support.
     */
    List<String> warnings();

    /**
     * Returns the warnings to log at startup if an application uses JSON instead of a format that keeps the whole state
     * of objects. There is one sentence for each type that JSON does not support, and for each class whose objects lose
     * fields.
     */
    default List<String> lostState() {
        return List.of();
    }

    /**
     * Decodes the arguments from a body. If the method has no parameters, the body must be empty, null, an empty array
     * or an empty object. If the method has one parameter, the body is the value itself. The JSON may also be an array
     * with only this value, unless the parameter's type is an array. For a scalar type, the JSON may also be an object
     * whose only member has the parameter's name. If the method has several parameters, the body is an array of all
     * values, or an object with the values by name, in which missing values are null. If the method has parameters, an
     * empty body is an error. For arguments in a request's query, use {@link #readQuery} instead. A UTF-8 byte order
     * mark at the beginning of the body is ignored. The caller has checked the memory of the objects with
     * {@link JsonEstimate}.
     *
     * @param oneMessage whether the body is one message, as in Connect. The body must then be the value of the only
     *     parameter. If the method has no parameters, the body may be any object.
     */
    @Nullable
    Object[] readArguments(byte[] json, int offset, int length, boolean oneMessage);

    /**
     * Decodes the arguments from query parameters or form fields, by name. Several values with the same name become a
     * list. A bean or a map is passed as JSON text under the name of its parameter. If this JSON text is missing, every
     * query parameter whose name is not the name of an argument becomes a property of the bean or map. Missing
     * arguments are null.
     *
     * @param parameters the decoded parameters, each with its values in order
     */
    @Nullable
    Object[] readQuery(Map<String, List<String>> parameters);

    /**
     * Encodes a request that {@link #readArguments} and Dubbo 3.3.6 can decode: the value of the only parameter, or an
     * array of several values. For a method without parameters, the request is an empty object, which is Connect's
     * empty message.
     */
    void writeArguments(@Nullable Object[] arguments, OutputBuffer out);

    /**
     * Decodes a result, or one message of a response stream. For a {@code void} method, returns null and ignores the
     * body.
     */
    @Nullable
    Object readResult(byte[] json, int offset, int length);

    /**
     * Encodes a result, or one message of a response stream. Null and the result of a {@code void} method are encoded
     * as {@code null}.
     */
    void writeResult(@Nullable Object value, OutputBuffer out);
}
