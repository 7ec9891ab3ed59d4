package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;

/** Arguments and results of methods as JSON (docs/wire-protocol.md 4.2). Thread-safe. */
public interface JsonFormat {

    /**
     * Returns the codec of a method. The first call resolves its types, which is expensive, so it should happen at
     * start-up.
     */
    JsonMethod method(MethodDescriptor method);

    /**
     * Decodes the error in the body of an answer; null if the body has none of the forms of Tern, Dubbo and Connect.
     */
    @Nullable
    JsonError error(byte[] json, int offset, int length);
}
