package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;

/** The encoding of arguments and results as JSON (docs/wire-protocol.md 4.2). Thread-safe. */
public interface JsonFormat {

    /**
     * Returns the codec of a method. The first call for a method resolves its types, which is expensive, and should
     * therefore be made at startup.
     */
    JsonMethod method(MethodDescriptor method);

    /**
     * Decodes the error in an answer's body. Returns null if the body is not in an error format of Tern, Dubbo or
     * Connect.
     */
    @Nullable
    JsonError error(byte[] json, int offset, int length);
}
