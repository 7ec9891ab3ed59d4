package tern.rpc.transport;

import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/** Refusals of calls whose arguments do not fit the method, the same on every wire. */
public final class WrongArguments {

    private WrongArguments() {}

    /** @param given number of arguments; another one than that of the method's parameters */
    public static RpcException count(MethodDescriptor method, int given) {
        int expected = method.parameters().size();
        String takes = expected == 0 ? "no arguments" : expected == 1 ? "1 argument" : expected + " arguments";
        return RpcException.refusal(
                StatusCode.INVALID_ARGUMENT, method + " takes " + takes + ", not " + given, Executed.NO);
    }

    /** @param why the arguments cannot be read */
    public static RpcException unreadable(RuntimeException why) {
        return new RpcException(
                StatusCode.INVALID_ARGUMENT, "the message cannot be read: " + why.getMessage(), Executed.NO, why);
    }
}
