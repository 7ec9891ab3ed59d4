package tern.rpc.transport;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.ValueType;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.SerializationException;

/**
 * Creates the exceptions for calls whose arguments do not match the method. The exceptions are the same on every
 * protocol.
 */
public final class WrongArguments {

    private WrongArguments() {}

    /**
     * Returns the exception for a call with the wrong number of arguments.
     *
     * @param given the number of received arguments
     */
    public static RpcException count(MethodDescriptor method, int given) {
        int expected = method.parameters().size();
        String takes = expected == 0 ? "no arguments" : expected == 1 ? "1 argument" : expected + " arguments";
        return RpcException.refusal(
                StatusCode.INVALID_ARGUMENT, method + " takes " + takes + ", not " + given, Executed.NO);
    }

    /**
     * Decodes the next argument.
     *
     * @param index the parameter index
     * @throws SerializationException if the argument cannot be decoded, or is null even though its type is primitive
     */
    public static @Nullable Object read(ObjectReader reader, MethodDescriptor method, int index) {
        ValueType declared = method.parameters().get(index);
        Object value = reader.readObject(declared);
        if (value == null && declared.raw().isPrimitive()) {
            throw new SerializationException(method + ", parameter " + (index + 1) + " ("
                    + method.parameterNames().get(index) + ") is missing: expected " + declared);
        }
        return value;
    }

    /**
     * Returns the exception for a call whose arguments cannot be decoded.
     *
     * @param why the decoder's exception
     */
    public static RpcException unreadable(RuntimeException why) {
        return new RpcException(
                StatusCode.INVALID_ARGUMENT, "the message cannot be read: " + why.getMessage(), Executed.NO, why);
    }
}
