package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;

/** The encoding of arguments and results as JSON (docs/wire-protocol.md 4.2). Thread-safe. */
public interface JsonFormat {

    /**
     * Returns the codec of a method. The first call resolves the types of the method, which is expensive, so it should
     * be made at startup.
     */
    JsonMethod method(MethodDescriptor method);

    /**
     * Decodes the error in the body of an answer. Returns null if the body has none of the error formats of Tern,
     * Dubbo and Connect.
     */
    @Nullable
    JsonError error(byte[] json, int offset, int length);
}
