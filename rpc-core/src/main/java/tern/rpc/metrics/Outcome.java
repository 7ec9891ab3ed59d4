package tern.rpc.metrics;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

/** The outcome of a call, as a tag value of its timer. */
final class Outcome {

    private static final StatusCode[] CODES = StatusCode.values();

    static final int COUNT = CODES.length + 1;
    static final int OK = 0;
    static final int EXCEPTION = CODES.length;

    private Outcome() {}

    static int of(@Nullable Throwable failure) {
        if (failure == null) {
            return OK;
        }
        return failure instanceof RpcException rpc ? rpc.code().ordinal() : EXCEPTION;
    }

    /** Returns whether the answer reports a mistake by the caller. */
    static boolean blamesCaller(@Nullable Throwable failure) {
        return failure instanceof RpcException rpc && rpc.code().blamesCaller();
    }

    static String tag(int outcome) {
        return outcome == EXCEPTION ? "exception" : CODES[outcome].name().toLowerCase(Locale.ROOT);
    }
}
