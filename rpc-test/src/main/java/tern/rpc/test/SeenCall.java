package tern.rpc.test;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.ServiceKey;

/**
 * A call received by a {@link ScriptedProvider}.
 *
 * @param arguments the method's arguments, without the messages of a stream; elements may be null
 * @param metadata the call's metadata
 * @param protocol the call's protocol, such as {@code dubbo}, {@code tri} or {@code http}
 */
public record SeenCall(
        ServiceKey service, String method, List<@Nullable Object> arguments, Metadata metadata, String protocol) {

    /** Returns the method and its arguments, such as {@code greet(Ada, 3)}. */
    @Override
    public String toString() {
        return arguments.stream().map(String::valueOf).collect(Collectors.joining(", ", method + "(", ")"));
    }
}
